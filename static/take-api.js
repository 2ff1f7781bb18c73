// The requests a candidate's page makes. Each gives {ok, body} or {ok: false, kind, ...}:
// kind "offline" (worth trying again), "closed" (the session is over) or "refused" (trying again changes nothing).

import { _ } from "./words.js";

const TIMEOUT_MS = 15000;

export function connect(token) {
  const base = `/api/v1/candidate/invites/${encodeURIComponent(token)}/`;
  return {
    look: () => send("GET", base),
    start: (agreed, recorded) => send("POST", `${base}start/`, { consent_accepted: agreed, recording_accepted: recorded, language: document.documentElement.lang }),
    save: (id, answer, language) => send("PUT", `${base}answers/${id}/`, { answer, language }),
    run: (id, answer, more) => send("POST", `${base}answers/${id}/run/`, { answer, ...more }, 60000),
    place: () => send("GET", `${base}run/`),
    report: (violation) => send("POST", `${base}violations/`, violation),
    keep: (chunk) => send("PUT", `${base}recordings/${chunk.track}/${chunk.number}/`, form(chunk), 60000),
    submit: () => send("POST", `${base}submit/`),
  };
}

// A part of a recording, with what its track is.
function form({ content, kind, mediaType, startedMs, durationMs }) {
  const made = new FormData();
  const told = { kind, media_type: mediaType, started_ms: startedMs, duration_ms: durationMs };
  for (const [name, value] of Object.entries(told)) made.append(name, value);
  made.append("content", new Blob([content], { type: "application/octet-stream" }), "chunk");
  return made;
}

async function send(method, url, body, timeout = TIMEOUT_MS) {
  const sentAt = Date.now();
  const written = body && !(body instanceof FormData) ? JSON.stringify(body) : null;
  try {
    const response = await fetch(url, {
      method,
      headers: { "Accept-Language": document.documentElement.lang, ...(written ? { "Content-Type": "application/json" } : {}) },
      body: written ?? body,
      cache: "no-store",
      // A small body outlives the page; a large one may not use this, the browser caps it at 64 kB.
      keepalive: Boolean(written) && written.length < 16000,
      signal: AbortSignal.timeout(timeout),
    });
    const answer = await response.json();
    if (response.ok) return { ok: true, body: answer, sentAt, receivedAt: Date.now() };
    return refusal(response, answer.error ?? {});
  } catch {
    return { ok: false, kind: "offline" };
  }
}

function refusal(response, error) {
  if (error.code === "SESSION_CLOSED") return { ok: false, kind: "closed" };
  if (response.status >= 500 || response.status === 429) {
    return { ok: false, kind: "offline", waitMs: Number(response.headers.get("Retry-After") ?? 0) * 1000 };
  }
  const said = error.details?.fields?.map((field) => field.message).join("; ");
  return { ok: false, kind: "refused", code: error.code, message: said ?? error.message ?? _("The server refused it.") };
}
