// The main journey through the generated types and openapi-fetch; prints what came of it as JSON.

import createClient from "openapi-fetch";
import type { components, paths } from "./generated/schema.ts";

type Refusal = components["schemas"]["Error"];

const { BASE_URL = "", API_KEY = "" } = process.env;
const PATIENCE = 60_000; // for grading
const client = createClient<paths>({
  baseUrl: `${BASE_URL}/api/v1/public`,
  headers: { Authorization: `Bearer ${API_KEY}` },
});

/** Return what was asked for, or fail with the refusal. */
function fine<T>({ data, error }: { data?: T; error?: Refusal }): T {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

/** Play the candidate, who has no client but a browser. */
async function take(token: string): Promise<void> {
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${BASE_URL}/api/v1/candidate/invites/${token}/${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
    });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  };
  const session = await ask("POST", "start/");
  for (const one of session.cases) {
    const answer = one.case_type === "coding" ? one.starter_code : one.options[0].id;
    await ask("PUT", `answers/${one.assessment_case_id}/`, { answer });
  }
  await ask("POST", "submit/");
}

/** Wait for the result. */
async function graded(token: string): Promise<components["schemas"]["Result"]> {
  const end = Date.now() + PATIENCE;
  while (Date.now() < end) {
    const result = fine(await client.GET("/invites/{token}/result/", { params: { path: { token } } }));
    if ("cases" in result && result.passed !== null) return result;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${token} was not graded`);
}

const organisation = fine(await client.GET("/org/"));
const made = fine(await client.POST("/assessments/create/", { body: { title: "Generated in TypeScript" } }));
const path = { slug: made.slug };
const kinds = ["mcq", process.env.PROGRAMS ? "coding" : "mcq"] as const; // of the cases that are taken
const cases = await Promise.all(
  kinds.map(async (case_type, place) => {
    const page = fine(await client.GET("/platform-cases/", { params: { query: { case_type, page_size: 2 } } }));
    return page.results[place]!;
  }),
);
const attached = fine(
  await client.POST("/assessments/{slug}/cases/attach/", {
    params: { path },
    body: { cases: cases.map(({ id }) => ({ case_id: id })) },
  }),
);
const replaced = fine(
  await client.PUT("/assessments/{slug}/cases/replace/", {
    params: { path },
    body: { cases: cases.map(({ id }) => ({ case_id: id })).reverse() },
  }),
);
const active = fine(await client.PATCH("/assessments/{slug}/update/", { params: { path }, body: { status: "active" } }));

const invite = () =>
  client.POST("/assessments/{slug}/invites/", {
    params: { path, header: { "Idempotency-Key": "typescript-1" } },
    body: { email: "bo@example.com", name: "Bo Lindqvist", external_id: "typescript-1" },
  });
const invited = fine(await invite());
const again = await invite();
fine(again);
await take(invited.invite_token);
const result = await graded(invited.invite_token);

const job = fine(await client.POST("/jobs/create/", { body: { title: "Engineer" } }));
const opened = fine(await client.POST("/jobs/{key}/publish/", { params: { path: { key: job.slug } } }));

/** A body of files, which `fetch` sends as multipart. */
function parts(body: object, files: Record<string, File>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...body, ...files })) form.set(name, value);
  return form;
}
const text = (name: string, said: string) => new File([said], name, { type: "text/plain" });
const cv = text("cv.txt", "Ada Lovelace\nSkills: Python");
const applied = fine(
  await client.POST("/applications/create/", {
    body: { email: "ada@example.com", full_name: "Ada Lovelace", job_slug: job.slug, cv: "" },
    bodySerializer: (body) => parts(body, { cv }),
  }),
);
const other = fine(
  await client.POST("/applications/create/", {
    body: { email: "grace@example.com", full_name: "Grace Hopper", job_slug: job.slug },
  }),
);
const added = fine(
  await client.POST("/applications/{application_id}/attachments/", {
    params: { path: { application_id: other.id } },
    body: { file: "" },
    bodySerializer: (body) => parts(body, { file: text("letter.txt", "Dear all") }),
  }),
);
const pages: string[] = [];
for (let cursor: string | null = ""; cursor !== null; ) {
  const page: components["schemas"]["ApplicationList"] = fine(
    await client.GET("/applications/", {
      params: { query: { job_slug: job.slug, ordering: "submitted_at", page_size: 1, ...(cursor && { cursor }) } },
    }),
  );
  pages.push(...page.results.map((one) => one.email));
  cursor = page.next && new URL(page.next).searchParams.get("cursor");
}

const registered = fine(
  await client.POST("/webhooks/create/", { body: { url: `${BASE_URL}/hooks`, events: ["candidate.failed"] } }),
);
const webhooks = fine(await client.GET("/webhooks/"));
const assessments = fine(await client.GET("/assessments/"));
const { error: refused } = await client.GET("/invites/{token}/", { params: { path: { token: "unknown" } } });
if (refused === undefined) throw new Error("an unknown invitation was found");
const { error: spoilt } = await client.POST("/assessments/create/", { body: { title: "" } });
if (spoilt === undefined) throw new Error("an assessment without a title was made");

console.log(
  JSON.stringify({
    plan: organisation.plan,
    attached: attached.length,
    replaced: replaced.map((one, at) => one.id === cases.at(-1 - at)?.id),
    job: opened.status,
    applied: applied.attachments.map((one) => [one.kind, one.filename]),
    added: added.filename,
    pages: pages.sort(),
    status: active.status,
    replayed: again.response.headers.get("Idempotent-Replayed"),
    result: result.status,
    cases: result.cases.map((one) => one.case_order),
    secret: registered.secret_key.slice(0, 6),
    webhooks: webhooks.results.map((one) => one.url),
    assessments: assessments.results.map((one) => one.slug),
    refused: refused.error.code,
    spoilt: [spoilt.error.code, spoilt.error.details.fields?.[0]?.pointer],
    help: refused.error.details.documentation_url,
  }),
);
