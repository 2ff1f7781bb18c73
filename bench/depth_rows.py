"""The rows that bench.depth looks at, made by the database itself, set by set."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

import psycopg

import store
from rules.caller import Caller
from store.accounts import organisations
from store.assessing import assessments
from store.database import engine
from store.hiring import jobs

BATCH = 100_000
TABLES = (
    "assessments",
    "candidates",
    "jobs",
    "applications",
    "invitations",
    "sessions",
    "cases",
    "webhook_endpoints",
    "squads",
    "pipelines",
    "offers",
    "enrollments",
    "application_events",
    "interviews",
    "interview_templates",
    "api_keys",
    "session_cases",
    "organisations",
)


def made_id(table: str, number: int) -> UUID:
    """Return the id of a row: in the order of the numbers, as UUIDv7 are in the order of time."""
    return UUID(f"0190{TABLES.index(table):02}{number:06x}70008000{number:012x}")


TEAMS = [made_id("squads", number) for number in (1, 2)]  # one has a seventh of the jobs, the other has one


def id(table: str, number: str) -> str:
    """Write the same in SQL, of a number in SQL."""
    written = f"lpad(to_hex({number}), 6, '0') || '70008000' || lpad(to_hex({number}), 12, '0')"
    return f"('0190{TABLES.index(table):02}' || {written})::uuid"


def timed_id(number: str) -> str:
    """Write in SQL the id of a row as a UUIDv7 has it: what begins with the moment at which it was made."""
    moment = f"lpad(to_hex((extract(epoch FROM {MADE}) * 1000)::bigint), 12, '0')"
    return f"({moment} || '70008000' || lpad(to_hex({number}), 12, '0'))::uuid"


# A tenth is another organisation's, so that not all rows are one's own.
OWNER = "CASE WHEN n %% 10 = 7 THEN %(other)s ELSE %(organisation)s END"


# Pseudo-random, and the same each time.
def chance(salt: int) -> str:
    return f"(hashint4(n::int # {salt}) & 2147483647)"


# A second for each row; a third of them changed some time after they were made.
MADE = "now() - (%(rows)s::int - n) * interval '1 second'"
CHANGED = f"now() - (now() - ({MADE})) * (CASE WHEN {chance(1)} %% 3 = 0 THEN random() ELSE 1 END)"

# What all rows of a wide table share is taken from one that the service made.
COPIED = """
INSERT INTO {table} SELECT made.* FROM {table} AS one, generate_series(%(first)s::int, %(last)s::int) AS n,
jsonb_populate_record(one, jsonb_build_object(
    'id', {id}, 'organisation_id', {owner}, 'created_at', {made}, 'updated_at', {changed}, 'slug', '{table}-' || n,
    {more}
)) AS made WHERE one.slug = 'first' AND one.organisation_id = %(organisation)s
"""
TITLE = f"""'title', (ARRAY['Senior', 'Lead', 'Junior', 'Staff'])[1 + {chance(2)} %% 4] || ' ' ||
    (ARRAY['backend engineer', 'data analyst', 'product manager', 'nurse'])[1 + {chance(3)} %% 4] || ' ' || n"""
TEAM = f"""CASE WHEN n = 3 THEN '{TEAMS[1]}' WHEN n %% 7 = 1 THEN '{TEAMS[0]}' END"""

DESCRIPTION = "<p>What you will do, with whom, and what we offer.</p>" * 30

ASSESSMENTS = COPIED.format(
    table="assessments", id=id("assessments", "n"), owner=OWNER, made=MADE, changed=CHANGED,
    more=f"{TITLE}, 'status', (ARRAY['active', 'draft', 'archived'])[1 + {chance(4)} %% 3], 'team_id', {TEAM},"
    f"'description', '{DESCRIPTION}'",
)  # fmt: skip
JOBS = COPIED.format(
    table="jobs", id=id("jobs", "n"), owner=OWNER, made=MADE, changed=CHANGED,
    more=f"{TITLE}, 'status', (ARRAY['open', 'open', 'closed', 'draft'])[1 + {chance(4)} %% 4], 'team_id', {TEAM},"
    f"'description_html', '{DESCRIPTION}'",
)  # fmt: skip
SQUADS = f"""
INSERT INTO squads (id, created_at, organisation_id, name, slug)
SELECT {id("squads", "n")}, {MADE}, {OWNER}, 'Squad ' || n, 'squad-' || n
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""
# One of ten is archived.
PIPELINES = f"""
INSERT INTO pipelines (
    id, created_at, updated_at, organisation_id, livemode, title, slug, description, team_id, stage_count,
    stages_locked, archived_at
)
SELECT {id("pipelines", "n")}, {MADE}, {CHANGED}, {OWNER}, true, 'Engineering ' || n, 'engineering-' || n, '',
       ({TEAM})::uuid, 3, true, CASE WHEN {chance(17)} %% 10 = 0 THEN now() END
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""
# Some first names, and last names of any letters; a fiftieth is archived, and a thousandth has a rare tag.
CANDIDATES = f"""
INSERT INTO candidates (
    id, created_at, updated_at, organisation_id, livemode, email, email_key, full_name, phone, source_summary, tags,
    archived_at
)
SELECT {id("candidates", "n")}, {MADE}, {CHANGED}, {OWNER}, true, 'c' || n || '@example.com',
       'c' || n || '@example.com',
       (ARRAY['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Mary', 'Katherine', 'Dorothy'])[1 + {chance(19)} %% 8]
           || ' ' || translate(substr(md5(n::text), 1, 8), '0123456789abcdef', 'aeioulrnstmdkbvz'),
       '', 'Import', CASE WHEN {chance(20)} %% 1000 = 0 THEN ARRAY['tag-8'] WHEN n %% 4 = 0 THEN ARRAY['season-1']
       ELSE '{{}}' END, CASE WHEN n %% 50 = 0 THEN now() END
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""
_WHOSE = f"CASE WHEN n %% 2 = 0 THEN {id('candidates', '1')} ELSE {id('candidates', 'n')} END"
WRITTEN = f"{timed_id('n')}, {MADE}, {OWNER}, true, {_WHOSE}"
CANDIDATE_NOTES = f"""
INSERT INTO candidate_notes (id, created_at, organisation_id, livemode, candidate_id, body, author)
SELECT {WRITTEN}, 'Asked for more.', 'public_api'
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""
SCORECARDS = f"""
INSERT INTO scorecards (id, created_at, organisation_id, livemode, candidate_id, updated_at, criteria, total)
SELECT {WRITTEN}, {CHANGED}, '[]', 7
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""
# Every other application is for the first job, the others are for some thousands; a third has no score.
APPLICATIONS = f"""
INSERT INTO applications (
    id, created_at, updated_at, submitted_at, organisation_id, livemode, job_id, candidate_id, email, email_key,
    full_name, phone, status, source, reject_reason, withdrawn_at, l3_score
)
SELECT {id("applications", "n")}, {MADE}, {CHANGED}, {MADE}, {OWNER}, true,
       CASE WHEN n %% 2 = 0 THEN {id("jobs", "1")} ELSE {id("jobs", "2 + n / 2 %% (%(rows)s::int / 100)")} END,
       {id("candidates", "n / 2")}, 'c' || n / 2 || '@example.com', 'c' || n / 2 || '@example.com', 'Ada Lovelace',
       '', status, 'public_api', '', CASE WHEN status = 'withdrawn' THEN now() END,
       CASE WHEN {chance(5)} %% 3 > 0 THEN {chance(6)} %% 10001 / 100.0 END
FROM generate_series(%(first)s::int, %(last)s::int) AS n, LATERAL (
    SELECT CASE WHEN {chance(7)} %% 1000 = 0 THEN 'hired' ELSE (ARRAY[
        'submitted', 'submitted', 'submitted', 'submitted', 'submitted', 'rejected', 'rejected', 'advanced',
        'on_hold', 'withdrawn'])[1 + {chance(8)} %% 10] END AS status
) AS moved
"""
SCREENINGS = f"""
INSERT INTO screenings (
    application_id, status, l1_passed, parse_error, l3_breakdown, evidence, model_version, ai_brief, ai_red_flags,
    ai_rationale, brief_error, auto_advanced, screened_at
)
SELECT {id("applications", "n")}, 'scored', true, '', '{{"must": 90.0, "should": 76.7, "coverage": 100.0}}', '[]',
       'l3-1', '', '{{}}', '', '', false, now()
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""


# Every other enrollment is in the first pipeline, and every other note is on the first of them.
ENROLLMENTS = f"""
INSERT INTO enrollments (
    id, created_at, updated_at, enrolled_at, organisation_id, livemode, pipeline_id, email, email_key, candidate_name,
    send_email, status, current_stage, reject_reason
)
SELECT {id("enrollments", "n")}, {MADE}, {CHANGED}, {MADE}, {OWNER}, true,
       CASE WHEN n %% 2 = 0 THEN {id("pipelines", "1")}
       ELSE {id("pipelines", "2 + n / 2 %% (%(rows)s::int / 100)")} END,
       'c' || n || '@example.com', 'c' || n || '@example.com', 'Ada Lovelace', true,
       CASE WHEN {chance(18)} %% 1000 = 0 THEN 'on_hold'
       ELSE (ARRAY['active', 'passed', 'rejected'])[1 + {chance(19)} %% 3] END, 0, ''
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""
NOTES = f"""
INSERT INTO enrollment_notes (id, created_at, organisation_id, livemode, enrollment_id, body, author)
SELECT {timed_id("n")}, {MADE}, {OWNER}, true,
       CASE WHEN n %% 2 = 0 THEN {id("enrollments", "1")} ELSE {id("enrollments", "n")} END,
       'Asked for more.', 'public_api'
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""


def invitations_of(assessment: str) -> str:
    """Write the statement that makes invitations to an assessment."""
    return f"""
INSERT INTO invitations (
    id, created_at, updated_at, organisation_id, livemode, assessment_id, token, email, email_key, name, role,
    status, external_id, tags, extra_time_percent, expires_at
)
SELECT {id("invitations", "n")}, {MADE}, {CHANGED}, {OWNER}, true, {assessment},
       'token-' || n, 'c' || n || '@example.com', 'c' || n || '@example.com', 'Ada Lovelace', 'Engineer',
       CASE WHEN {chance(9)} %% 400 = 0 THEN 'started'
       ELSE (ARRAY['pending', 'completed', 'expired'])[1 + {chance(9)} %% 3] END,
       'reference-' || n, ARRAY['tag-' || n %% 1000, 'season-' || {chance(10)} %% 4], 0, now() + interval '7 days'
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""


# Every other one is to the first assessment.
INVITATIONS = invitations_of(
    f"CASE WHEN n %% 2 = 0 THEN {id('assessments', '1')} ELSE {id('assessments', '2 + n %% 1000')} END"
)


# Every other session is of the first assessment; few are running, and a hundredth waits for review.
SESSIONS = f"""
INSERT INTO sessions (
    id, created_at, updated_at, organisation_id, livemode, invitation_id, assessment_id, started_at, completed_at,
    passing_score, violation_counts, graded_at, settled_at, score, max_score, score_percentage, passed,
    time_spent_seconds
)
SELECT {id("sessions", "n")}, {MADE}, {CHANGED}, {OWNER}, true, {id("invitations", "n")},
       CASE WHEN n %% 2 = 0 THEN {id("assessments", "1")} ELSE {id("assessments", "2 + n %% 1000")} END,
       {MADE}, CASE WHEN {chance(11)} %% 500 > 0 THEN {MADE} END, 70, '{{}}', {MADE},
       CASE WHEN {chance(11)} %% 500 > 5 THEN {MADE} END, 50, 100, 50,
       CASE WHEN {chance(11)} %% 500 > 5 THEN {chance(12)} %% 1000 > 0 END, 60
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""
# A tenth of what waits was claimed once, and a hundredth is claimed now.
SESSION_CASES = f"""
INSERT INTO session_cases (
    id, created_at, updated_at, session_id, assessment_case_id, case_order, weight, content, answer, saved_at,
    time_spent_seconds, status, max_score, claimed_by, claimed_until
)
SELECT {id("session_cases", "n")}, {MADE}, {CHANGED}, {id("sessions", "n")}, {id("cases", "1")}, 1, 1,
       '{{"title": "In your own words"}}', '["It depends."]', {MADE}, 60,
       CASE WHEN waits THEN 'pending_review' ELSE 'correct' END, 10,
       CASE WHEN waits AND {chance(24)} %% 10 = 0 THEN '{{"type": "key", "id": "1", "name": "Desk"}}'::jsonb END,
       CASE WHEN waits AND {chance(24)} %% 100 = 0 THEN now() + interval '1 day'
            WHEN waits AND {chance(24)} %% 10 = 0 THEN now() - interval '1 day' END
FROM generate_series(%(first)s::int, %(last)s::int) AS n, LATERAL (
    SELECT {chance(11)} %% 500 <= 5 AS waits
) AS graded
"""
CASES = f"""
INSERT INTO cases (
    id, created_at, updated_at, organisation_id, livemode, title, case_type, difficulty, description, question, points,
    options, allow_multiple, accepted_answers, starter_code, test_cases, rubric, tags
)
SELECT {id("cases", "n")}, {MADE}, {CHANGED}, {OWNER}, true, 'Case ' || n, 'text', 'easy', '', '', 10,
       '[]', false, '{{}}', '', '[]', '', '{{}}'
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""
ENDPOINT = made_id("webhook_endpoints", 1)
ENDPOINTS = f"""
INSERT INTO webhook_endpoints (
    id, created_at, updated_at, organisation_id, livemode, name, description, url, events, secret, is_active,
    is_verified, failure_count, pending_delivery_count
)
SELECT {id("webhook_endpoints", "n")}, {MADE}, {CHANGED}, {OWNER}, true, '', '', 'https://example.com/' || n, '{{*}}',
       '', true, true, 0, 0
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""
TYPE = f"""CASE WHEN {chance(13)} %% 5000 = 0 THEN 'offer.declined' ELSE (ARRAY['invitation.created',
    'invitation.created', 'assessment.started', 'assessment.completed', 'candidate.passed'])[1 + {chance(14)} %% 5]
    END"""
DATA = """jsonb_build_object('candidate_email', 'c' || n || '@example.com', 'candidate_name', 'Ada Lovelace',
    'assessment_title', 'Senior backend engineer', 'status', 'pending', 'expires_at', '2026-01-01T00:00:00.000Z')"""
EVENTS = f"""
INSERT INTO events (id, created_at, organisation_id, livemode, sequence, type, data, fanned_out_at)
SELECT {timed_id("n")}, {MADE}, {OWNER}, true, n + 1, {TYPE}, {DATA}, {MADE}
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""
# Every other one went to the first endpoint; one of a thousand failed, and of ten thousand still waits.
DELIVERIES = f"""
INSERT INTO deliveries (
    id, created_at, organisation_id, livemode, endpoint_id, event_id, event_type, payload, status, attempts,
    next_attempt_at, delivered_at, response_status_code, response_time_ms, response_body
)
SELECT {timed_id("n")}, {MADE}, {OWNER}, true,
       CASE WHEN n %% 2 = 0 THEN {id("webhook_endpoints", "1")}
       ELSE {id("webhook_endpoints", "2 + n %% (%(rows)s::int / 200)")} END,
       {timed_id("n")}, {TYPE}, {DATA},
       CASE WHEN {chance(15)} %% 10000 = 0 THEN 'pending' WHEN {chance(16)} %% 1000 = 0 THEN 'failed'
       ELSE 'delivered' END, 1, now(), {MADE}, 200, 20, 'ok'
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""
# One of a hundred was refused; half of the others are one action.
AUDIT = f"""
INSERT INTO audit_rows (
    id, occurred_at, organisation_id, livemode, number, hash, channel, actor_type, action, outcome, status_code,
    error_code, actor_id, resource_id, request_id
)
SELECT {timed_id("n")}, {MADE}, {OWNER}, CASE WHEN n %% 50 > 0 THEN true END, n + 1, decode(repeat('00', 32), 'hex'),
       channel, 'key', CASE WHEN channel = 'candidate' THEN 'submit_session' WHEN {chance(20)} %% 1000 = 0
       THEN 'delete_webhook' WHEN n %% 2 = 0 THEN 'create_invitation' ELSE 'save_application' END,
       CASE WHEN failed THEN 'error' ELSE 'success' END, CASE WHEN failed THEN 400 ELSE 201 END,
       CASE WHEN failed THEN 'VALIDATION_ERROR' END, {id("api_keys", "1")}, {id("invitations", "n")}, 'req_' || n
FROM generate_series(%(first)s::int, %(last)s::int) AS n, LATERAL (
    SELECT CASE WHEN {chance(19)} %% 4 = 0 THEN 'candidate' ELSE 'public_api' END AS channel,
           {chance(21)} %% 100 = 0 AS failed
) AS came
"""
CHAINS = """
INSERT INTO audit_chains (organisation_id, number, hash, anchor, anchored_number, seal)
SELECT organisation_id, max(number), decode('00', 'hex'), 0, 0, '' FROM audit_rows GROUP BY organisation_id
"""

# One for every tenth application; every other one is for the first job.
OFFERS = f"""
INSERT INTO offers (
    id, created_at, updated_at, organisation_id, livemode, application_id, job_id, token, status, title, body_html,
    compensation_text, decline_reason
)
SELECT {id("offers", "n")}, {MADE}, {CHANGED}, {OWNER}, true, {id("applications", "n * 10")},
       CASE WHEN n %% 2 = 0 THEN {id("jobs", "1")} ELSE {id("jobs", "2 + n / 2 %% (%(rows)s::int / 10)")} END,
       'offer-' || n, CASE WHEN {chance(17)} %% 1000 = 0 THEN 'expired' ELSE (ARRAY[
        'draft', 'accepted', 'accepted', 'declined', 'withdrawn', 'sent'])[1 + {chance(18)} %% 6] END,
       'Senior engineer', '<p>Dear Ada, we would like you to join us.</p>', 'EUR 84,000', ''
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""
TEMPLATES = f"""
INSERT INTO interview_templates (id, created_at, updated_at, organisation_id, livemode, title, settings)
SELECT {id("interview_templates", "n")}, {MADE}, {CHANGED}, {OWNER}, true, 'Technical interview ' || n, '{{}}'
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""
# Most have ended; a sixteenth is held with a model, a thousandth with a model alone.
INTERVIEWS = f"""
INSERT INTO interviews (
    id, created_at, updated_at, organisation_id, livemode, title, candidate_token, interviewer_token, candidate_id,
    candidate_email, candidate_name, status, interview_type, interviewer_mode, human_can_join, voice_mode,
    active_language, time_limit_minutes, integrity_config, session_metadata, job_description, resume_text,
    target_role, target_company, difficulty, analysis_status, outcome_comment, send_invite,
    identity_match, ics_sequence, last_number
)
SELECT {id("interviews", "n")}, {MADE}, {CHANGED}, {OWNER}, true, 'Technical interview', 'candidate-' || n,
       'interviewer-' || n, {id("candidates", "n")}, 'c' || n || '@example.com',
       (ARRAY['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Mary', 'Katherine', 'Dorothy'])[1 + {chance(21)} %% 8]
           || ' ' || translate(substr(md5(n::text), 1, 8), '0123456789abcdef', 'aeioulrnstmdkbvz'),
       CASE WHEN {chance(22)} %% 1000 = 0 THEN 'no_show' WHEN n %% 8 = 0 THEN 'scheduled' ELSE 'ended' END,
       CASE WHEN n %% 4 = 0 THEN 'coding' ELSE 'technical' END,
       CASE WHEN {chance(23)} %% 1000 = 0 THEN 'ai_only' WHEN n %% 16 = 0 THEN 'hybrid' ELSE 'human_only' END,
       true, false, 'python', 60, '{{}}', '{{}}', '', '', '', '', '', 'pending', '', false, 'unlinked', 0, 0
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""


@dataclass(frozen=True)
class Filling:
    """How a table is filled, and with how many rows for each of the longest one's."""

    table: str
    statement: str
    share: float = 1.0


FILLINGS = (
    Filling("squads", SQUADS, 0.01),
    Filling("assessments", ASSESSMENTS, 0.1),
    Filling("pipelines", PIPELINES, 0.1),
    Filling("jobs", JOBS, 0.1),
    Filling("candidates", CANDIDATES),
    Filling("candidate_notes", CANDIDATE_NOTES),
    Filling("scorecards", SCORECARDS),
    Filling("applications", APPLICATIONS),
    Filling("screenings", SCREENINGS),
    Filling("invitations", INVITATIONS),
    Filling("sessions", SESSIONS),
    Filling("session_cases", SESSION_CASES),
    Filling("enrollments", ENROLLMENTS),
    Filling("enrollment_notes", NOTES),
    Filling("cases", CASES, 0.1),
    Filling("webhook_endpoints", ENDPOINTS, 0.01),
    Filling("events", EVENTS),
    Filling("deliveries", DELIVERIES),
    Filling("offers", OFFERS, 0.1),
    Filling("interview_templates", TEMPLATES, 0.1),
    Filling("interviews", INTERVIEWS),
    Filling("audit_rows", AUDIT),
    Filling("audit_chains", CHAINS, 0),
)


def fill(rows: int) -> Caller:
    """Fill the tables for one organisation; return it as a caller."""
    with store.transaction() as session:
        owner, other = (
            organisations.create(session, name=name, plan="enterprise") for name in ("Depth", "Other")
        )
        caller = Caller(owner.id, livemode=True, plan_name="enterprise")
        for make in (assessments.create, jobs.create):
            make(session, caller, {"title": "First"})
    url = engine.engine().url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        connection.execute("SET maintenance_work_mem = '256MB'")
        for one in FILLINGS:
            count = int(rows * one.share)
            with bare(connection, one.table):
                for first in range(0, count + 1, BATCH):
                    last = min(first + BATCH - 1, count)
                    given = {
                        "organisation": owner.id,
                        "other": other.id,
                        "rows": count,
                        "first": first,
                        "last": last,
                    }
                    connection.execute(one.statement, given)
                    print(f"\r{one.table}: {last:,} of {count:,} rows", end="", file=sys.stderr, flush=True)
            print("", file=sys.stderr)
        connection.execute("VACUUM ANALYZE")
    return caller


@contextmanager
def bare(connection: psycopg.Connection[tuple[str, ...]], table: str) -> Iterator[None]:
    """Take a table's references and further indexes away while it is filled: made anew of all rows they cost less."""
    references = connection.execute(
        "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = %s::regclass AND contype = 'f'",
        [table],
    ).fetchall()
    indexes = connection.execute(
        "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s AND indexname NOT IN"
        " (SELECT conname FROM pg_constraint WHERE conrelid = %s::regclass)",
        [table, table],
    ).fetchall()
    for name, _ in references:
        connection.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
    for name, _ in indexes:
        connection.execute(f'DROP INDEX "{name}"')
    yield
    for name, definition in references:
        connection.execute(f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}')
    for _, definition in indexes:
        connection.execute(definition)
