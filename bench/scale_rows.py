"""An instance of many organisations, one of them as large as all others together, made by the database itself.

Half of the invitations and of the applications are the first organisation's, in twenty assessments and jobs; the others
share the rest evenly. A fifth of the invitations is started, each with a session of one case that takes a text.
"""

import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass

import psycopg

import store
from bench import depth_rows
from bench.depth_rows import BATCH, COPIED, DESCRIPTION, chance, id  # noqa: A004 - as depth_rows has it
from bench.mix import CASE, EXTRA, STARTED
from rules.caller import Caller
from store.accounts import organisations
from store.assessing import assessments
from store.database import engine
from store.hiring import jobs

# Of row n: its number among those of the same parity, whose it is, and which assessment or job it is of.
HALF = "(n / 2)"
OWNED = f"CASE WHEN n %% 2 = 0 THEN 0 ELSE 1 + {HALF} %% (%(organisations)s::int - 1) END"
PARENT = f"CASE WHEN n %% 2 = 0 THEN %(organisations)s::int + {HALF} %% {EXTRA} ELSE {OWNED} END"
TURN = f"CASE WHEN n %% 2 = 0 THEN {HALF} ELSE {HALF} / (%(organisations)s::int - 1) END"
IS_STARTED = f"(({TURN}) %% {STARTED} = 0)"
OWNER = id("organisations", f"({OWNED})")
# An assessment and a job for each organisation, and then the large one's.
ITS_OWNER = id("organisations", "(CASE WHEN n < %(organisations)s::int THEN n ELSE 0 END)")
MADE, CHANGED = depth_rows.MADE, depth_rows.CHANGED
SERIES = "FROM generate_series(%(first)s::int, %(last)s::int) AS n"
PERSON = "'c' || n || '@example.com'"

ORGANISATIONS = f"""
INSERT INTO organisations (id, created_at, updated_at, name, slug, plan, notify_on_candidate_completion)
SELECT {id("organisations", "n")}, {MADE}, {MADE}, 'Company ' || n, 'company-' || n, 'enterprise', false {SERIES}
"""
KEYS = f"""
INSERT INTO api_keys (id, created_at, organisation_id, name, livemode, prefix, hash, scopes, cidrs)
SELECT {id("api_keys", "n")}, {MADE}, {id("organisations", "n")}, 'bench', true, 'ct_live_000000',
       encode(sha256(('ct_live_' || lpad(n::text, 40, '0'))::bytea), 'hex'), '{{}}', '{{}}' {SERIES}
"""
ASSESSMENTS = COPIED.format(
    table="assessments", id=id("assessments", "n"), owner=ITS_OWNER, made=MADE, changed=CHANGED,
    more=f"{depth_rows.TITLE}, 'status', 'active', 'description', '{DESCRIPTION}'",
)  # fmt: skip
JOBS = COPIED.format(
    table="jobs", id=id("jobs", "n"), owner=ITS_OWNER, made=MADE, changed=CHANGED,
    more=f"{depth_rows.TITLE}, 'status', 'open', 'description_html', '{DESCRIPTION}', 'published_at', {MADE},"
    "'location_text', 'Berlin'",
)  # fmt: skip
CANDIDATES = f"""
INSERT INTO candidates (
    id, created_at, updated_at, organisation_id, livemode, email, email_key, full_name, phone, source_summary, tags
)
SELECT {id("candidates", "n")}, {MADE}, {CHANGED}, {OWNER}, true, {PERSON}, {PERSON},
       'Ada ' || initcap(translate(substr(md5(n::text), 1, 8), '0123456789abcdef', 'aeioulrnstmdkbvz')), '', 'Import',
       '{{}}'
{SERIES}
"""
APPLICATIONS = f"""
INSERT INTO applications (
    id, created_at, updated_at, submitted_at, organisation_id, livemode, job_id, candidate_id, email, email_key,
    full_name, phone, status, source, reject_reason, l3_score
)
SELECT {id("applications", "n")}, {MADE}, {CHANGED}, {MADE}, {OWNER}, true, {id("jobs", f"({PARENT})")},
       {id("candidates", "n")}, {PERSON}, {PERSON}, 'Ada Lovelace', '',
       (ARRAY['submitted', 'rejected', 'advanced', 'on_hold'])[1 + {chance(7)} %% 4], 'public_api', '',
       {chance(6)} %% 10001 / 100.0
{SERIES}
"""
INVITATIONS = f"""
INSERT INTO invitations (
    id, created_at, updated_at, organisation_id, livemode, assessment_id, candidate_id, token, email, email_key, name,
    role, status, started_at, external_id, tags, extra_time_percent, expires_at
)
SELECT {id("invitations", "n")}, {MADE}, {CHANGED}, {OWNER}, true, {id("assessments", f"({PARENT})")},
       {id("candidates", "n")}, 'token-' || n, {PERSON}, {PERSON}, 'Ada Lovelace', 'Engineer',
       CASE WHEN {IS_STARTED} THEN 'started'
       ELSE (ARRAY['pending', 'completed', 'expired'])[1 + {chance(9)} %% 3] END,
       CASE WHEN {IS_STARTED} THEN {MADE} END, 'reference-' || n, ARRAY['season-' || {chance(10)} %% 4], 0,
       now() + interval '30 days'
{SERIES}
"""
SESSIONS = f"""
INSERT INTO sessions (
    id, created_at, updated_at, organisation_id, livemode, invitation_id, assessment_id, started_at, passing_score,
    violation_counts
)
SELECT {id("sessions", "n")}, {MADE}, {CHANGED}, {OWNER}, true, {id("invitations", "n")},
       {id("assessments", f"({PARENT})")}, {MADE}, 70, '{{}}'
{SERIES} WHERE {IS_STARTED}
"""
SESSION_CASES = f"""
INSERT INTO session_cases (
    id, created_at, updated_at, session_id, assessment_case_id, case_order, weight, content, time_spent_seconds,
    max_score
)
SELECT {id("session_cases", "n")}, {MADE}, {CHANGED}, {id("sessions", "n")}, '{CASE}', 1, 1,
       '{{"title": "In your own words", "case_type": "text", "options": [], "allow_multiple": false}}', 0, 10
{SERIES} WHERE {IS_STARTED}
"""
# Each with how many rows it has: for each organisation, for each and the large one's more, or of those that are many.
STEPS = (
    ("organisations", ORGANISATIONS, "organisations"),
    ("api_keys", KEYS, "organisations"),
    ("assessments", ASSESSMENTS, "parents"),
    ("jobs", JOBS, "parents"),
    ("candidates", CANDIDATES, "rows"),
    ("applications", APPLICATIONS, "rows"),
    ("screenings", depth_rows.SCREENINGS, "rows"),
    ("invitations", INVITATIONS, "rows"),
    ("sessions", SESSIONS, "rows"),
    ("session_cases", SESSION_CASES, "rows"),
)


@dataclass(frozen=True)
class Filled:
    """What there is: organisations from 0 to the last, and rows from 0 to the last of each table that is long."""

    organisations: int
    rows: int


def fill(count: int, rows: int) -> Filled:
    """Fill the tables and say how long it took; both numbers count what there is in all."""
    began = time.monotonic()
    with store.transaction() as session:
        owner = organisations.create(session, name="First", plan="enterprise")
        caller = Caller(owner.id, livemode=True, plan_name="enterprise")
        for make in (assessments.create, jobs.create):
            make(session, caller, {"title": "First"})
    counts = {"organisations": count, "parents": count + EXTRA, "rows": rows}
    url = engine.engine().url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        connection.execute("SET maintenance_work_mem = '256MB'")
        with ExitStack() as bared:
            for table in dict.fromkeys(table for table, _, _ in STEPS):
                bared.enter_context(depth_rows.bare(connection, table))
            for table, statement, measure in STEPS:
                of_table, made = counts[measure], 0
                given = {"organisation": owner.id, "organisations": count, "rows": of_table}
                for first in range(0, of_table, BATCH):
                    last = min(first + BATCH, of_table) - 1
                    made += connection.execute(statement, given | {"first": first, "last": last}).rowcount
                print(f"{table}: {made:,}", file=sys.stderr, flush=True)
        connection.execute("VACUUM ANALYZE")
    print(f"Filled in {time.monotonic() - began:.0f} s.", file=sys.stderr, flush=True)
    return Filled(count, rows)
