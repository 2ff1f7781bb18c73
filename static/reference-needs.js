// What has to exist before an operation can succeed: found through the API itself, or made there in test mode, under a
// title that says so. What the server answers is what the page fills in.

const TITLE = "Try it";
const TEST_KEY = "ct_test_";
const CANDIDATE = "/api/v1/candidate";
const PUBLIC = "/api/v1/public";
const INBOX = "https://inbox.invalid/";
const CV = "Ada Lovelace\nada@example.com\n\nSkills: Python, PostgreSQL\n";
// One white pixel.
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII=";

export class Missing extends Error {}

const days = (count) => new Date(Date.now() + count * 86_400_000).toISOString();
const word = () => Array.from(crypto.getRandomValues(new Uint8Array(4)), (one) => one.toString(16).padStart(2, "0")).join("");
const address = () => `ada.${word()}@example.com`;
const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));
const file = (name, type, content) => new File([content], name, { type });
const bytes = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));

export class Needs {
  constructor(key) {
    this.key = key;
  }

  get isTest() {
    return this.key.startsWith(TEST_KEY);
  }

  // Nothing of anybody's live data is chosen for a request that changes it.
  mustMake() {
    if (!this.isTest) throw new Missing("With a live key nothing is filled in for a request that changes something.");
  }

  // In test mode what the page made, whose state it knows; in live mode, where it only looks, whatever there is.
  ours = (row) => !this.isTest || (row.title ?? row.name ?? "").startsWith(TITLE);

  async ask(method, path, body) {
    const headers = path.startsWith(CANDIDATE) ? {} : { Authorization: `Bearer ${this.key}` };
    if (method !== "GET" && !this.isTest) throw new Missing("There is none yet, and with a live key none is made for you.");
    const form = body instanceof FormData;
    if (body && !form) headers["Content-Type"] = "application/json";
    const url = path.startsWith(CANDIDATE) ? path : `${PUBLIC}${path}`;
    const sent = form ? body : body && JSON.stringify(body);
    const answer = await fetch(url, { method, headers, body: sent, signal: AbortSignal.timeout(30_000) });
    const said = answer.status === 204 ? null : await answer.json();
    if (!answer.ok) throw new Missing(said?.error?.message ?? `${method} ${path} was answered ${answer.status}.`);
    return said;
  }

  get = (path) => this.ask("GET", path);
  post = (path, body) => this.ask("POST", path, body);

  // The first row of a list that fits, or what is made otherwise.
  async find(path, fits, make) {
    const { results } = await this.get(path);
    return results.find(fits) ?? make();
  }

  async until(path, done) {
    for (let tries = 0; tries < 40; tries += 1) {
      const said = await this.get(path);
      if (done(said)) return said;
      await pause(0.25);
    }
    throw new Missing("What has to happen before takes longer than usual: try again in a moment.");
  }

  // --- Cases and assessments

  newCase = (content = { case_type: "text" }) => this.post("/cases/create/", { title: `${TITLE} ${word()}`, ...content });
  case = () => this.find("/cases/?page_size=100", (one) => this.ours(one) && one.case_type === "text", () => this.newCase());
  code = () =>
    this.find("/cases/?page_size=100", (one) => this.ours(one) && one.case_type === "coding", () =>
      this.newCase({ case_type: "coding", language: "python", test_cases: [{ input: "1", expected_output: "1" }] }));

  async newDraft(...contents) {
    const cases = [];
    for (const one of contents.length ? contents : [{ case_type: "text" }]) {
      cases.push({ case_id: (await this.newCase(one)).id, source: "org" });
    }
    return this.post("/assessments/create/", { title: `${TITLE} ${word()}`, cases });
  }

  async newActive(...contents) {
    const made = await this.newDraft(...contents);
    return this.ask("PATCH", `/assessments/${made.slug}/update/`, { status: "active" });
  }

  draft = () =>
    this.find("/assessments/?status=draft&page_size=100", (one) => this.ours(one) && (one.case_count > 0 || !this.isTest), () => this.newDraft());
  active = () => this.find("/assessments/?status=active&page_size=100", this.ours, () => this.newActive());

  async caseOfDraft() {
    const { slug } = await this.draft();
    const { results } = await this.get(`/assessments/${slug}/cases/`);
    return { slug, assessment_case_id: results[0].assessment_case_id };
  }

  // --- Invitations and results

  async newInvitation(slug) {
    const one = slug ?? (await this.active()).slug;
    return this.post(`/assessments/${one}/invites/`, { email: address(), name: "Ada Lovelace" });
  }

  invitation = (fits = () => true) => this.find("/invites/?status=pending&page_size=20", (one) => one.email && fits(one), () => this.newInvitation());

  // One that was handed in: a right number, and a text that waits for somebody to review it.
  async newSubmission(of) {
    const slug = of ?? (await this.newActive({ case_type: "numeric", answer_number: 42 }, { case_type: "text" })).slug;
    const { invite_token: token } = await this.newInvitation(slug);
    const at = `${CANDIDATE}/invites/${token}`;
    const { cases } = await this.post(`${at}/start/`);
    for (const one of cases) {
      const answer = one.case_type === "text" ? "It depends on the reads." : 42;
      await this.ask("PUT", `${at}/answers/${one.assessment_case_id}/`, { answer });
    }
    await this.post(`${at}/submit/`);
    const result = await this.until(`/invites/${token}/result/`, (said) => said.cases?.some((one) => one.score !== null));
    return { token, slug, order: result.cases.find((one) => one.score === null)?.case_order ?? 2 };
  }

  submission = () =>
    this.find("/invites/?status=completed&page_size=1", () => true, () => this.newSubmission())
      .then((one) => ({ token: one.invite_token ?? one.token }));

  // An answer that waits and that nobody has in hand.
  review = () =>
    this.find("/reviews/?claimed=false&page_size=1", () => true, async () => {
      await this.newSubmission();
      return (await this.get("/reviews/?claimed=false&page_size=1")).results[0];
    });

  async expired() {
    const made = await this.find("/invites/?status=expired&page_size=1", () => true, async () => {
      const { invite_token: token } = await this.newInvitation();
      await this.ask("PATCH", `/invites/${token}/`, { expires_at: new Date(Date.now() + 1500).toISOString() });
      return this.until(`/invites/${token}/`, (one) => one.status === "expired");
    });
    return { token: made.invite_token };
  }

  // --- People of the organisation

  newSquad = () => this.post("/org/squads/", { name: `${TITLE} ${word()}` });
  squad = () => this.find("/org/squads/?page_size=100", this.ours, () => this.newSquad());

  async member() {
    const { results } = await this.get("/org/team/?page_size=1");
    if (!results.length) throw new Missing("The organisation has no people yet: `hiring members add` makes some.");
    return results[0].user_id;
  }

  // --- Pipelines and enrollments

  async newPipeline() {
    const { slug } = await this.active();
    const stages = [{ stage_type: "assessment", label: "Coding", assessment_slug: slug }, { stage_type: "manual_review", label: "The team decides" }];
    return this.post("/pipelines/create/", { title: `${TITLE} ${word()}`, stages });
  }

  pipeline = () => this.find("/pipelines/?page_size=100", this.ours, () => this.newPipeline());

  async enrollment(status = "active", step = null) {
    const { slug } = await this.pipeline();
    return this.find(`/pipelines/${slug}/enrollments/?status=${status}&page_size=1`, () => true, async () => {
      const made = await this.post(`/pipelines/${slug}/enroll/`, { email: address(), name: "Ada Lovelace" });
      return step ? this.post(`/pipelines/enrollments/${made.id}/${step}/`) : made;
    });
  }

  // --- Jobs and applications

  newJob = () => this.post("/jobs/create/", { title: `${TITLE} ${word()}` });
  job = () => this.find("/jobs/?status=draft&page_size=100", this.ours, () => this.newJob());

  openJob = () =>
    this.find("/jobs/?status=open&page_size=100", this.ours, async () => this.post(`/jobs/${(await this.newJob()).slug}/publish/`));

  async field() {
    const { slug: key } = await this.job();
    const made = await this.find(`/jobs/${key}/fields/`, () => true, () =>
      this.post(`/jobs/${key}/fields/`, { key: `years_${word()}`, label: "Years of Python", field_type: "number" }));
    return { key, field_id: made.id };
  }

  async newApplication() {
    const { slug } = await this.openJob();
    const form = new FormData();
    for (const [name, value] of Object.entries({ job_slug: slug, email: address(), full_name: "Ada Lovelace" })) form.set(name, value);
    form.set("cv", file("cv.txt", "text/plain", CV));
    return this.post("/applications/create/", form);
  }

  async application(status = "submitted", step = null) {
    const { slug } = await this.openJob();
    return this.find(`/applications/?job_slug=${slug}&status=${status}&page_size=1`, () => true, async () => {
      const made = await this.newApplication();
      return step ? this.post(`/applications/${made.id}/${step}/`, {}) : made;
    });
  }

  async screened() {
    const { id } = await this.newApplication();
    await this.until(`/applications/${id}/screening/`, (one) => ["scored", "briefed", "failed"].includes(one.status));
    return id;
  }

  async attachment() {
    const { id } = await this.application();
    const whole = await this.get(`/applications/${id}/`);
    return { application_id: id, attachment_id: whole.attachments[0].id };
  }

  candidate = async () => (await this.application()).candidate_id;
  newCandidate = async () => (await this.newApplication()).candidate_id;

  // --- Interviews and offers

  newTemplate = () => this.post("/interviews/templates/create/", { title: `${TITLE} ${word()}` });
  template = () => this.find("/interviews/templates/?page_size=100", this.ours, () => this.newTemplate());
  newRoom = () =>
    this.post("/interviews/create/", { title: `${TITLE} ${word()}`, candidate_email: address(), candidate_name: "Ada Lovelace", scheduled_at: days(2) });
  room = () => this.find("/interviews/?status=scheduled&page_size=100", this.ours, () => this.newRoom());

  async offer(status = "draft") {
    return this.find(`/offers/?status=${status}&page_size=1`, () => true, async () => {
      const { id } = await this.newApplication();
      const body = { application_id: id, title: `${TITLE}: an offer`, body_html: "<p>Dear Ada,</p><p>we would like you to join us.</p>" };
      const made = await this.post("/offers/", body);
      return status === "sent" ? this.post(`/offers/${made.id}/send/`) : made;
    });
  }

  // --- Webhooks, and the inboxes that they may lead to in test mode

  newWebhook = (url = `https://hooks.example.com/${word()}`, name = `${TITLE} ${word()}`) =>
    this.post("/webhooks/create/", { url, events: ["*"], name });

  // An endpoint that passed its test; it leads to an inbox, so that nobody needs one of their own for it. `then` is what
  // it answers to all that follows. Inboxes have no list, and an organisation has a hundred: what leads to one is found.
  endpoint(name, then) {
    const fits = (one) => (this.isTest ? one.is_active && one.name === name && one.url.startsWith(INBOX) : one.is_verified);
    return this.find("/webhooks/?page_size=100", fits, async () => {
      const { url } = await this.post("/test/inboxes/", { name, answers: [{}, { status: then }] });
      const made = await this.newWebhook(url, name);
      await this.post(`/webhooks/${made.id}/test/`);
      return made;
    });
  }

  webhook = () => this.endpoint(`${TITLE} inbox`, 200);
  inbox = async () => (await this.webhook()).url.slice(INBOX.length);

  // One that was not taken, so that it can be sent again.
  async delivery() {
    const { id } = await this.endpoint(`${TITLE} inbox that refuses`, 503);
    const path = `/webhooks/${id}/deliveries/?status=pending&page_size=1`;
    const { id: delivery_id } = await this.find(path, () => true, async () => {
      await this.post("/test/events/", { type: "job.published" });
      return (await this.until(path, (said) => said.results.length)).results[0];
    });
    return { id, delivery_id };
  }
}

export const made = { address, days, file, word, cv: () => file("cv.txt", "text/plain", CV), logo: () => file("logo.png", "image/png", bytes(PIXEL)) };
