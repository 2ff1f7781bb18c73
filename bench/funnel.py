"""The funnel of an organisation with a million applications: of a tenth of them, and of all.

`python -m bench.funnel`. They came over months, and each was screened. 3,000,000 lines of history, 360,000 sittings and
60,000 offers tell what came after.
"""

import sys
import time
from contextlib import ExitStack
from datetime import date, timedelta

import psycopg

import store
from bench import depth_rows, figures
from bench.depth_rows import BATCH, chance, id  # noqa: A004 - as depth_rows has it
from bench.figures import Figure
from rules.caller import Caller
from rules.clock import now
from store.accounts import organisations
from store.assessing import assessments
from store.database import engine
from store.hiring import jobs
from store.measuring import funnel

ROWS, QUICK_ROWS = 1_000_000, 50_000
ROUNDS, QUICK_ROUNDS = 20, 5
DAYS = 900  # over which they came: a tenth within 90 days
JOBS = 2_000

SUBMITTED = f"(now() - (%(rows)s::int - n) * (interval '{DAYS} days' / %(rows)s::int))"
SERIES = "FROM generate_series(%(first)s::int, %(last)s::int) AS n"
MINE = "%(organisation)s, true"


def after(salt: int, days: int) -> str:
    """Write a moment some days after the submission of a row, never later than now."""
    return f"least(now(), {SUBMITTED} + {chance(salt)} %% {days * 1440} * interval '1 minute')"


# Who applies does so for four jobs, which are four different ones; the jobs of low numbers are sought most.
PERSON = "'c' || n / 4 || '@example.com'"
JOB = f"1 + n %% 4 * {JOBS // 4} + least({chance(31)}, {chance(32)}) %% {JOBS // 4}"
IS_INVITED, IS_ENROLLED, IS_OFFERED = (
    "n %% 10 < 3",
    "n %% 10 = 3",
    f"(n %% 10 = 0 AND {chance(33)} %% 10 < 6)",
)
IS_ADVANCED = "n %% 10 < 4"
# Every one has two lines, and there is one more for each on average.
LINES = {
    1: ("submitted", "true", SUBMITTED),
    2: ("screened", "true", after(37, 1)),
    3: ("advanced", IS_ADVANCED, after(38, 7)),
    4: ("rejected", "n %% 10 >= 6", after(39, 20)),
    5: ("held", "n %% 10 = 4", after(40, 20)),
    6: ("hired", IS_OFFERED + " AND n %% 20 = 0", after(41, 60)),
    7: ("knockout_failed", f"{chance(36)} %% 20 = 0", SUBMITTED),
}
FIRST = [LINES[number][1:] for number in (2, 3, 6)]
STAGE = f"{chance(34)} %% 2"  # of an enrollment: half of them have come to the second assessment
APPLICATIONS = f"""
INSERT INTO applications (
    id, created_at, updated_at, submitted_at, organisation_id, livemode, job_id, candidate_id, email, email_key,
    full_name, phone, status, source, source_detail, reject_reason, invitation_id, enrollment_id, first_screened_at,
    first_advanced_at, first_hired_at
)
SELECT {id("applications", "n")}, {SUBMITTED}, {SUBMITTED}, {SUBMITTED}, {MINE}, {id("jobs", JOB)},
       {id("candidates", "n / 4")}, {PERSON}, {PERSON}, 'Ada Lovelace', '', 'submitted',
       (ARRAY['public_careers', 'public_careers', 'public_api', 'import'])[1 + {chance(35)} %% 4],
       CASE WHEN {chance(35)} %% 4 < 2 THEN jsonb_build_object('utm_source', 'campaign-' || {chance(49)} %% 40) END, '',
       CASE WHEN {IS_INVITED} THEN {id("invitations", "n")} END,
       CASE WHEN {IS_ENROLLED} THEN {id("enrollments", "n")} END,
       {", ".join(f"CASE WHEN {condition} THEN {moment} END" for condition, moment in FIRST)}
{SERIES}
"""
SCREENINGS = depth_rows.SCREENINGS.replace("'scored', true", f"'scored', {chance(36)} %% 20 > 0")
HISTORY = "\nUNION ALL ".join(
    f"SELECT {id('application_events', f'(n * 8 + {number})')}, {moment}, {id('applications', 'n')}, '{type}',"
    f" 'submitted', 'system', '{{}}'::jsonb {SERIES} WHERE {condition}"
    for number, (type, condition, moment) in LINES.items()
)
HISTORY = f"INSERT INTO application_events (id, created_at, application_id, type, to_status, actor, details) {HISTORY}"
ENROLLMENTS = f"""
INSERT INTO enrollments (
    id, created_at, updated_at, enrolled_at, organisation_id, livemode, pipeline_id, candidate_id, email, email_key,
    candidate_name, send_email, status, current_stage, reject_reason
)
SELECT {id("enrollments", "n")}, {SUBMITTED}, {SUBMITTED}, {SUBMITTED}, {MINE}, {id("pipelines", "1")},
       {id("candidates", "n / 4")}, {PERSON}, {PERSON}, 'Ada Lovelace', true, 'active', {STAGE}, ''
{SERIES} WHERE {IS_ENROLLED}
"""


def invitations(number: str, assessment: str, condition: str) -> str:
    """Write the statement that invites some to an assessment."""
    return f"""
INSERT INTO invitations (
    id, created_at, updated_at, organisation_id, livemode, assessment_id, candidate_id, token, email, email_key, name,
    role, status, tags, extra_time_percent, expires_at
)
SELECT {id("invitations", number)}, {SUBMITTED}, {SUBMITTED}, {MINE}, {id("assessments", assessment)},
       {id("candidates", "n / 4")}, 'token-' || {number}, {PERSON}, {PERSON}, 'Ada Lovelace', '', 'completed', '{{}}',
       0, now()
{SERIES} WHERE {condition}
"""


def sessions(number: str, condition: str) -> str:
    """Write the statement that lets four of five sit, most to the end."""
    return f"""
INSERT INTO sessions (
    id, created_at, updated_at, organisation_id, livemode, invitation_id, assessment_id, started_at, completed_at,
    settled_at, passing_score, violation_counts, passed
)
SELECT {id("sessions", number)}, {SUBMITTED}, {SUBMITTED}, {MINE}, {id("invitations", number)},
       {id("assessments", "1")}, {SUBMITTED}, CASE WHEN {chance(42)} %% 10 > 0 THEN {after(43, 20)} END,
       CASE WHEN {chance(42)} %% 10 > 1 THEN {after(44, 25)} END, 70, '{{}}', {chance(45)} %% 2 = 0
{SERIES} WHERE {condition} AND {chance(46)} %% 5 > 0
"""


SECOND = "(n + 2000000)"  # the number of the second assessment's invitation
AT_SECOND = f"{IS_ENROLLED} AND {STAGE} = 1"
OFFERS = f"""
INSERT INTO offers (
    id, created_at, updated_at, organisation_id, livemode, application_id, job_id, token, status, title, body_html,
    compensation_text, decline_reason, sent_at, responded_at
)
SELECT {id("offers", "n")}, {SUBMITTED}, {SUBMITTED}, {MINE}, {id("applications", "n")}, {id("jobs", JOB)},
       'offer-' || n, CASE WHEN n %% 20 = 0 THEN 'accepted' ELSE 'declined' END, 'Senior engineer', '', '', '',
       {after(47, 40)}, {after(48, 60)}
{SERIES} WHERE {IS_OFFERED}
"""
PIPELINE = f"""
INSERT INTO pipelines (id, created_at, updated_at, organisation_id, livemode, title, slug, description, stage_count,
                       stages_locked)
VALUES ({id("pipelines", "1")}, now(), now(), {MINE}, 'Engineering', 'engineering', '', 2, true)
"""
STAGES = f"""
INSERT INTO pipeline_stages (id, created_at, pipeline_id, position, stage_type, label, assessment_id)
SELECT gen_random_uuid(), now(), {id("pipelines", "1")}, position, 'assessment', '', {id("assessments", "5 + position")}
FROM generate_series(0, 1) AS position
"""
# Tables in order, each with how many rows it counts for each application.
STEPS = (
    ("squads", depth_rows.SQUADS, 10),
    ("assessments", depth_rows.ASSESSMENTS, 10),
    ("jobs", depth_rows.JOBS, JOBS),
    ("pipelines", PIPELINE, 1),
    ("pipeline_stages", STAGES, 1),
    ("candidates", depth_rows.CANDIDATES, 1 / 4),
    ("applications", APPLICATIONS, 1.0),
    ("screenings", SCREENINGS, 1.0),
    ("application_events", HISTORY, 1.0),
    ("enrollments", ENROLLMENTS, 1.0),
    ("invitations", invitations("n", "1 + n %% 4", IS_INVITED), 1.0),
    ("invitations", invitations("n", "5", IS_ENROLLED), 1.0),
    ("invitations", invitations(SECOND, "6", AT_SECOND), 1.0),
    ("sessions", sessions("n", IS_ADVANCED), 1.0),
    ("sessions", sessions(SECOND, AT_SECOND), 1.0),
    ("offers", OFFERS, 1.0),
)


def measure(quick: bool) -> list[Figure]:
    """Fill the tables, then ask for a tenth and for all."""
    rows, rounds = (QUICK_ROWS, QUICK_ROUNDS) if quick else (ROWS, ROUNDS)
    with figures.place():
        caller = fill(rows)
        today = now().date()
        first = {rows // 10: today - timedelta(days=DAYS // 10), rows: today - timedelta(days=DAYS + 1)}
        return [
            figure
            for (count, since), limit in zip(first.items(), (1, 5), strict=True)
            for figure in asked(caller, since, today, rounds, f"funnel of {count:,} applications", limit)
        ]


def asked(caller: Caller, since: date, today: date, rounds: int, name: str, limit: float) -> list[Figure]:
    """Ask so often; the first time is one of them."""
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        with store.reading() as reading:
            found = funnel.read(reading, caller, since, today)
        taken.append(time.perf_counter() - began)
    counts = {name: stage.count for name, stage in found.stages.items()}
    print(f"{name}: {counts}", file=sys.stderr)
    late = sorted(taken)[round(0.95 * (len(taken) - 1))]
    return [figures.plain(f"{name}: p50", taken, "s"), figures.at_most(f"{name}: p95", late, "s", limit)]


def fill(rows: int) -> Caller:
    """Fill the tables for one organisation; return it as a caller."""
    with store.transaction() as session:
        owner = organisations.create(session, name="Funnel", plan="enterprise")
        caller = Caller(owner.id, livemode=True, plan_name="enterprise")
        for make in (assessments.create, jobs.create):
            make(session, caller, {"title": "First"})
    given = {"organisation": owner.id, "other": owner.id, "rows": rows}
    url = engine.engine().url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        connection.execute("SET maintenance_work_mem = '256MB'")
        # What the history's trigger would write stands in the rows already.
        connection.execute("ALTER TABLE application_events DISABLE TRIGGER USER")
        with ExitStack() as bared:
            for table in dict.fromkeys(table for table, _, _ in STEPS):
                bared.enter_context(depth_rows.bare(connection, table))
            for table, statement, share in STEPS:
                last = int(rows * share) if isinstance(share, float) else share
                for first in range(0, last + 1, BATCH):
                    part = {"first": first, "last": min(first + BATCH - 1, last)}
                    connection.execute(statement, given | part)
                print(f"{table}: {last:,}", file=sys.stderr, flush=True)
        connection.execute("ALTER TABLE application_events ENABLE TRIGGER USER")
        connection.execute("VACUUM ANALYZE")
    return caller


if __name__ == "__main__":
    figures.main(measure, __doc__)
