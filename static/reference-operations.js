// What each operation is filled in with: parameters, and what of its example has to be what exists.

import { made } from "./reference-needs.js";

const { address, cv, days, logo, word } = made;

// By the beginning of a path, what its parameters are; an operation's own line wins.
const PATHS = [
  [/^\/assessments\/\{slug\}\/(results|invites)\//, async (n) => ({ slug: (await n.active()).slug })],
  [/^\/assessments\/\{slug\}\//, async (n) => ({ slug: (await n.draft()).slug })],
  [/^\/invites\/\{token\}\/(result|report)\//, (n) => n.submission()],
  [/^\/invites\/\{token\}\//, async (n) => ({ token: (await n.invitation()).invite_token })],
  [/^\/reviews\/\{id\}\//, async (n) => ({ id: (await n.review()).id })],
  [/^\/cases\/\{id\}\//, async (n) => ({ id: (await n.case()).id })],
  [/^\/org\/squads\/\{team_id\}\//, async (n) => ({ team_id: (await n.squad()).id })],
  [/^\/jobs\/\{key\}\/fields\/\{field_id\}\//, (n) => n.field()],
  [/^\/jobs\/\{key\}\//, async (n) => ({ key: (await n.job()).slug })],
  [/^\/applications\/\{application_id\}\/attachments\/\{attachment_id\}\//, (n) => n.attachment()],
  [/^\/applications\/\{application_id\}\//, async (n) => ({ application_id: (await n.application()).id })],
  [/^\/pipelines\/enrollments\//, async (n) => ({ enrollment_id: (await n.enrollment()).id })],
  [/^\/pipelines\/\{slug\}\//, async (n) => ({ slug: (await n.pipeline()).slug })],
  [/^\/interviews\/templates\/\{template_id\}\//, async (n) => ({ template_id: (await n.template()).id })],
  [/^\/interviews\/\{room_id\}\//, async (n) => ({ room_id: (await n.room()).id })],
  [/^\/offers\/\{offer_id\}\//, async (n) => ({ offer_id: (await n.offer()).id })],
  [/^\/candidates\/\{candidate_id\}\//, async (n) => ({ candidate_id: await n.candidate() })],
  [/^\/webhooks\/\{id\}\/deliveries\/\{delivery_id\}\//, (n) => n.delivery()],
  [/^\/webhooks\/\{id\}\//, async (n) => ({ id: (await n.webhook()).id })],
  [/^\/test\/inboxes\/\{inbox_id\}\//, async (n) => ({ inbox_id: await n.inbox() })],
];

// Operations whose state has to be one of its own: what they do cannot be done twice to the same thing.
const STATES = {
  delete_case: async (n) => ({ id: (await n.newCase()).id }),
  update_case: async (n) => ({ id: (await n.newCase()).id }),
  remove_case: (n) => n.caseOfDraft(),
  remind_invitation: async (n) => ({ token: (await n.invitation((one) => !one.reminded_at)).invite_token }),
  cancel_invitation: async (n) => ({ token: (await n.newInvitation()).invite_token }),
  reopen_invitation: (n) => n.expired(),
  revoke_shared_report: async (n) => {
    const { token } = await n.submission();
    return { token, share_id: (await n.post(`/invites/${token}/report/share/`, {})).id };
  },
  retake_invitation: async (n) => ({ token: (await n.newSubmission()).token }),
  delete_squad: async (n) => ({ team_id: (await n.newSquad()).id }),
  delete_interview_template: async (n) => ({ template_id: (await n.newTemplate()).id }),
  cancel_interview: async (n) => ({ room_id: (await n.newRoom()).id }),
  settle_interview: async (n) => ({ room_id: (await n.newRoom()).id }),
  close_job: async (n) => ({ key: (await n.openJob()).slug }),
  hire_application: async (n) => ({ application_id: (await n.application("advanced", "advance")).id }),
  unhold_application: async (n) => ({ application_id: (await n.application("on_hold", "hold")).id }),
  get_screening: async (n) => ({ application_id: await n.screened() }),
  rerun_screening: async (n) => ({ application_id: await n.screened() }),
  unhold_enrollment: async (n) => ({ enrollment_id: (await n.enrollment("on_hold", "hold")).id }),
  update_pipeline: async (n) => ({ slug: (await n.newPipeline()).slug }),
  withdraw_offer: async (n) => ({ offer_id: (await n.offer("sent")).id }),
  create_scorecard: async (n) => {
    const { id: application_id, candidate_id } = await n.application();
    return { candidate_id, application_id };
  },
  erase_candidate: async (n) => ({ candidate_id: await n.newCandidate() }),
  delete_webhook: async (n) => ({ id: (await n.newWebhook()).id }),
  update_webhook: async (n) => ({ id: (await n.newWebhook()).id }),
  rotate_webhook_secret: async (n) => ({ id: (await n.newWebhook()).id }),
  remove_squad_member: async (n) => {
    const user_id = await n.member();
    const { id: team_id } = await n.squad();
    await n.post(`/org/squads/${team_id}/members/`, { user_id });
    return { team_id, user_id };
  },
  review_result: (n) => n.newSubmission(),
  compare_results: async (n) => {
    const one = await n.newSubmission();
    const two = await n.newSubmission(one.slug);
    return { slug: one.slug, invite_token: [one.token, two.token] };
  },
  take_test_invitation: async (n) => ({ token: (await n.newInvitation()).invite_token }),
  make_test_applications: async (n) => ({ key: (await n.openJob()).slug }),
  play_test_interview: async (n) => ({ room_id: (await n.newRoom()).id }),
  answer_test_offer: async (n) => ({ offer_id: (await n.offer("sent")).id }),
};

// What of an example is changed: it names what somebody else has, or is true once only.
const BODIES = {
  update_organisation: async (n) => ({ name: (await n.get("/org/")).name }),
  update_settings: async (n) => ({ colour: (await n.get("/org/settings/")).colour || "#1f5eff" }),
  update_mail_template: async (n) => {
    const { subject } = await n.get("/org/mail-templates/invitation/en/");
    return { subject };
  },
  add_squad_member: async (n) => ({ user_id: await n.member() }),
  attach_cases: async (n) => ({ cases: [{ case_id: (await n.newCase()).id, source: "org" }] }),
  replace_cases: async (n) => ({ cases: [{ case_id: (await n.newCase()).id, source: "org" }] }),
  create_invitation: async (_, example) => ({ ...example, email: address(), external_id: `ats-${word()}` }),
  bulk_invite: async (_, example) => ({
    ...example,
    candidates: example.candidates.map((one) => ({ ...one, email: address(), external_id: undefined })),
  }),
  update_invitation: async (_, example) => ({ ...example, expires_at: days(30) }),
  review_result: async (_, example, { order }) => ({ cases: [{ ...example.cases[0], case_order: order, score: "1.00" }] }),
  update_job: async (_, example) => ({ ...example, expires_at: days(60) }),
  create_field: async (_, example) => ({ ...example, key: `${example.key}_${word()}` }),
  create_application: async (n, { answers, phone, ...example }) => ({
    ...example,
    job_slug: (await n.openJob()).slug,
    email: address(),
    external_id: `ats-${word()}`,
  }),
  create_pipeline: async (n, example) => ({
    ...example,
    stages: [{ ...example.stages[0], assessment_slug: (await n.active()).slug }, example.stages[1]],
  }),
  update_pipeline: async (n, example, { slug }) => {
    const { stages } = await n.get(`/pipelines/${slug}/`);
    return { stages: [...stages.map(({ id, stage_type, label }, number) => ({
      id, stage_type, label, ...(stage_type === "assessment" ? { assessment_slug: stages[number].assessment_slug } : {}),
    })), { stage_type: "manual_review", label: "Meet the founders" }] };
  },
  enroll_candidate: async (_, example) => ({ ...example, email: address() }),
  bulk_enroll: async (_, example) => ({ ...example, candidates: example.candidates.map((one) => ({ ...one, email: address() })) }),
  create_interview: async (n, { interviewers, ...example }) => ({
    ...example,
    candidate_email: address(),
    scheduled_at: days(2),
    coding_case_ids: [(await n.code()).id],
  }),
  bulk_interview: async (_, example) => ({ ...example, candidates: [{ ...example.candidates[0], email: address() }] }),
  create_interview_template: async (n, example) => ({ ...example, coding_case_ids: [(await n.code()).id] }),
  reschedule_interview: async () => ({ scheduled_at: days(3) }),
  create_offer: async (n, example) => ({
    ...example,
    application_id: (await n.newApplication()).id,
    start_date: days(60).slice(0, 10),
    expires_at: days(14),
  }),
  update_offer: async () => ({ scheduled_send_at: days(1) }),
  create_scorecard: async (_, example, { application_id }) => ({ ...example, application_id }),
  merge_candidates: async (n) => ({ source_id: await n.newCandidate() }),
  create_webhook: async (_, example) => ({ ...example, url: `${example.url}/${word()}` }),
  replay_deliveries: async (_, example) => ({ ...example, since: days(-2) }),
  advance_test_clock: () => ({ seconds: 3600 }),
  make_test_applications: (_, example) => ({ ...example, count: 3 }),
};

// Files that a form is filled in with.
const FILES = {
  upload_logo: () => ({ logo: logo() }),
  upload_attachment: () => ({ file: cv(), kind: "cv" }),
};

// Return { params, body, form } for an operation; what is not there stays as it was.
export async function fillIn(needs, { id, path, method, example }) {
  const state = STATES[id] ?? PATHS.find(([at]) => at.test(path))?.[1];
  // What only looks is filled in with whatever key; what changes something is made ready in test mode alone.
  if (method !== "get" && (state || BODIES[id])) needs.mustMake();
  const params = state ? await state(needs) : {};
  const body = BODIES[id] ? await BODIES[id](needs, example, params) : undefined;
  return { params, body, form: FILES[id]?.() };
}
