"""The funnel against a plain count over the same rows, whatever they hold."""

import importlib
import random
import statistics
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.types.json import Jsonb
from sqlalchemy import text

import store
from rules.caller import Caller
from store.database.ids import new_id
from store.measuring import funnel
from store.measuring.funnel import STAGES
from tests.api import Tenant

FIRST, LAST = date(2026, 3, 1), date(2026, 3, 31)
START = datetime(2026, 2, 20, tzinfo=UTC)
TYPES = ("submitted", "screened", "advanced", "rejected", "held", "unheld", "hired", "hired")
LINKS = (
    None,
    {"utm_source": "Newsletter", "ref": "ada"},
    {"ref": "ada", "referrer": "news.example.com"},
    {"referrer": "news.example.com"},
    {"utm_medium": "email"},
)
SOURCES = ("public_api", "public_careers", "manual", "import")
Row = dict[str, Any]


class Rows:
    """Made-up rows, kept twice: in the database, and here to be counted by hand."""

    def __init__(self, seed: int, connection: psycopg.Connection[Any], caller: Caller) -> None:
        self.dice, self.connection, self.caller = random.Random(seed), connection, caller
        self.tables: dict[str, list[Row]] = {}

    def add(self, table: str, *, owned: bool = True, **values: Any) -> Row:
        row = {"id": new_id(), "created_at": START} | values
        if owned:
            row |= {"organisation_id": self.caller.organisation_id, "livemode": self.caller.livemode}
        self.tables.setdefault(table, []).append(row)
        places = ", ".join(f"%({name})s" for name in row)
        self.connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", row)  # type: ignore[arg-type]
        return row

    def moment(self) -> datetime:
        """Whole hours, so that many are alike, some of them on the edges of days."""
        return START + timedelta(hours=self.dice.randrange(24 * 45))

    def maybe(self, one: Any, part: float = 0.5) -> Any:
        return one if self.dice.random() < part else None

    def fill(self, job_ids: list[UUID], assessment_ids: list[UUID], count: int) -> None:
        written = {"updated_at": START}
        pipeline = self.add(
            "pipelines", title="P", slug="p", description="", stage_count=2, stages_locked=True, **written
        )
        for position in (0, 1):
            self.add("pipeline_stages", owned=False, pipeline_id=pipeline["id"], position=position,
                     stage_type="assessment", label="", assessment_id=assessment_ids[position])  # fmt: skip
        for number in range(count):
            self.person(f"p{number}@example.com", job_ids, assessment_ids, pipeline)

    def person(self, email: str, job_ids: list[UUID], assessment_ids: list[UUID], pipeline: Row) -> None:
        written = {"updated_at": START}
        known = {"email": email, "email_key": email}
        one = self.add(
            "candidates", **known, full_name="Ada", phone="", source_summary="", tags=[], **written
        )
        link = {**known, **written, "candidate_id": one["id"]}
        invited = []
        for assessment_id in assessment_ids:
            for attempt in range(1, 1 + self.dice.choice((0, 1, 1, 2))):
                invited.append(self.invitation(link, assessment_id, attempt))
        enrollment = self.maybe(1, 0.4) and self.add(
            "enrollments", **link, pipeline_id=pipeline["id"], candidate_name="Ada", send_email=True, status="active",
            current_stage=self.dice.randrange(2), reject_reason="", enrolled_at=START,
        )  # fmt: skip
        for _ in range(self.dice.randrange(3)):
            self.interview(one, self.maybe(enrollment, 0.8))
        for job_id in self.dice.sample(job_ids, 2):
            self.application(
                link, job_id, self.maybe(self.dice.choice(invited)) if invited else None, enrollment
            )

    def interview(self, person: Row, enrollment: Row | None) -> None:
        blank = ("title", "candidate_email", "candidate_name", "job_description", "resume_text", "target_role",
                 "target_company", "difficulty", "outcome_comment")  # fmt: skip
        self.add("interviews", **dict.fromkeys(blank, ""), updated_at=START, candidate_id=person["id"],
                 candidate_token=str(new_id()), interviewer_token=str(new_id()), status="ended",
                 interview_type="technical", interviewer_mode="human_only", active_language="python",
                 identity_match="unlinked", analysis_status="pending", human_can_join=True, voice_mode=False,
                 send_invite=False, time_limit_minutes=60, ics_sequence=0, last_number=0,
                 integrity_config=Jsonb({}), session_metadata=Jsonb({}), ended_at=self.maybe(self.moment(), 0.7),
                 pipeline_enrollment_id=enrollment and enrollment["id"])  # fmt: skip

    def invitation(self, link: Row, assessment_id: UUID, attempt: int) -> Row:
        made = self.add("invitations", **link, assessment_id=assessment_id, token=str(new_id()), name="", role="",
                        status="pending", tags=[], extra_time_percent=0, expires_at=START, attempt=attempt)  # fmt: skip
        if self.maybe(1, 0.7):
            completed = self.maybe(self.moment(), 0.8)
            self.add("sessions", invitation_id=made["id"], assessment_id=assessment_id, started_at=START,
                     updated_at=START, completed_at=completed, settled_at=completed and self.maybe(self.moment(), 0.8),
                     passing_score=70, violation_counts=Jsonb({}),
                     passed=self.dice.choice((True, False, None)))  # fmt: skip
        return made

    def application(self, link: Row, job_id: UUID, invited: Row | None, enrollment: Row | None) -> None:
        detail = self.dice.choice(LINKS)
        made = self.add("applications", **link, job_id=job_id, full_name="Ada", phone="", status="submitted",
                        source=self.dice.choice(SOURCES), source_detail=detail and Jsonb(detail),
                        reject_reason="", submitted_at=self.moment(),
                        invitation_id=invited and invited["id"],
                        enrollment_id=enrollment and enrollment["id"])  # fmt: skip
        self.connection.execute(
            "INSERT INTO screenings (application_id, status, l1_passed, parse_error, l3_breakdown, evidence,"
            " model_version, ai_brief, ai_red_flags, ai_rationale, brief_error, auto_advanced)"
            " VALUES (%s, 'scored', %s, '', '{}', '[]', '', '', '{}', '', '', false)",
            [made["id"], passed := self.dice.choice((True, True, False, None))],
        )
        self.tables.setdefault("screenings", []).append({"application_id": made["id"], "l1_passed": passed})
        for type in self.dice.sample(TYPES, self.dice.randrange(len(TYPES))):
            self.add("application_events", owned=False, application_id=made["id"], type=type, to_status="submitted",
                     actor="system", details=Jsonb({}), created_at=self.moment())  # fmt: skip
        for _ in range(self.dice.choice((0, 0, 1, 2))):  # no offer goes out before its application is there
            sent = self.maybe(made["submitted_at"] + timedelta(hours=self.dice.randrange(500)), 0.8)
            answered = sent and self.maybe(self.moment())
            status = self.dice.choice(("accepted", "declined")) if answered else "withdrawn"
            self.add("offers", updated_at=START, application_id=made["id"], job_id=job_id, token=str(new_id()),
                     status=status, title="", body_html="", compensation_text="", decline_reason="", sent_at=sent,
                     responded_at=answered)  # fmt: skip


def earliest(moments: Iterator[datetime | None]) -> datetime | None:
    return min((one for one in moments if one is not None), default=None)


def reached(tables: dict[str, list[Row]], one: Row) -> dict[str, datetime | None]:
    """When an application reached each stage, as a person would look it up."""

    def event(type: str) -> datetime | None:
        mine = (row for row in tables["application_events"] if row["application_id"] == one["id"])
        return earliest(row["created_at"] for row in mine if row["type"] == type)

    mine = [row for row in tables["invitations"] if row["candidate_id"] == one["candidate_id"]]
    named = [row for row in mine if row["id"] == one["invitation_id"]]
    retaken = {row["assessment_id"] for row in named if row["attempt"] > 1}
    staged = {
        stage["assessment_id"]
        for enrollment in tables["enrollments"]
        for stage in tables["pipeline_stages"]
        if enrollment["id"] == one["enrollment_id"] and stage["position"] <= enrollment["current_stage"]
    }
    ways = {row["id"] for row in mine if row in named or row["assessment_id"] in retaken | staged}
    sat = [row for row in tables["sessions"] if row["invitation_id"] in ways and row["completed_at"]]
    offers = [row for row in tables["offers"] if row["application_id"] == one["id"] and row["sent_at"]]
    [screening] = [row for row in tables["screenings"] if row["application_id"] == one["id"]]
    return {
        "applied": one["submitted_at"],
        "passed_knockouts": one["submitted_at"] if screening["l1_passed"] else None,
        "screened": event("screened"),
        "advanced": event("advanced"),
        "assessed": earliest(row["completed_at"] for row in sat),
        "passed_assessment": earliest(row["settled_at"] for row in sat if row["passed"]),
        "interviewed": earliest(
            row["ended_at"]
            for row in tables["interviews"]
            if row["pipeline_enrollment_id"] and row["pipeline_enrollment_id"] == one["enrollment_id"]
        ),
        "offered": earliest(row["sent_at"] for row in offers),
        "accepted": earliest(row["responded_at"] for row in offers if row["status"] == "accepted"),
        "hired": event("hired"),
    }


def origin(one: Row) -> str | None:
    """What a link named first, as a person would read it."""
    detail = one["source_detail"].obj if one["source_detail"] else {}
    named = (detail[word] for word in ("utm_source", "ref", "referrer") if word in detail)
    return next((name.lower() for name in named), None)


@pytest.mark.parametrize("seed", range(5))
def test_the_funnel_is_what_a_plain_count_finds(tenant: Tenant, seed: int) -> None:
    caller = Caller(tenant.organisation.id, livemode=True, plan_name="growth")
    jobs = [UUID(tenant.live.job()["id"]) for _ in range(4)]
    assessments = [UUID(tenant.live.assessment()["id"]) for _ in range(3)]
    with store.transaction() as session:
        driver = session.connection().connection.driver_connection
        assert driver
        rows = Rows(seed, driver, caller)
        rows.fill(jobs, assessments, 40)
    for job_id in (None, jobs[0]):
        cohort = [
            one
            for one in rows.tables["applications"]
            if FIRST <= one["submitted_at"].date() <= LAST and job_id in (None, one["job_id"])
        ]
        assert cohort
        with store.reading() as reading:
            found = funnel.read(reading, caller, FIRST, LAST, job_id=job_id)
        ways = [reached(rows.tables, one) for one in cohort]
        assert {name: step.count for name, step in found.stages.items()} == {
            name: sum(1 for way in ways if way[name]) for name in STAGES
        }
        for before, name in pairwise(STAGES):
            took = [
                max(0.0, (to - since).total_seconds())
                for way in ways
                if (to := way[name]) and (since := way[before])
            ]
            step = found.stages[name]
            assert (step.came, step.seconds) == (len(took), statistics.median(took) if took else None), name
        kinds = {
            "source": (found.by_source, lambda one: one["source"]),
            "origin": (found.by_origin, origin),
            "job_id": (found.by_job, lambda one: str(one["job_id"])),
        }
        for key, (kept, kind) in kinds.items():
            plain: dict[str, tuple[int, int]] = {}
            for one, way in zip(cohort, ways, strict=True):
                if value := kind(one):
                    applied, hired = plain.get(value, (0, 0))
                    plain[value] = (applied + 1, hired + bool(way["hired"]))
            assert {row[key]: (row["applied"], row["hired"]) for row in kept} == plain
            assert [row["applied"] for row in kept] == sorted((row["applied"] for row in kept), reverse=True)


def test_what_was_there_before_is_filled_as_if_the_database_had_kept_it(tenant: Tenant) -> None:
    migration = importlib.import_module("store.migrations.versions.0051_first_moments")
    columns = [column.name for column in migration.COLUMNS]
    read = f"SELECT id, {', '.join(columns)} FROM applications WHERE organisation_id = %s ORDER BY id"
    with store.transaction() as session:
        driver = session.connection().connection.driver_connection
        assert driver
        caller = Caller(tenant.organisation.id, livemode=True, plan_name="growth")
        job = UUID(tenant.live.job()["id"])
        rows = Rows(7, driver, caller)
        for number in range(40):
            person = rows.add("candidates", email=str(number), email_key=str(number), full_name="", phone="",
                              source_summary="", tags=[], updated_at=START)  # fmt: skip
            link = {
                "email": str(number),
                "email_key": str(number),
                "candidate_id": person["id"],
                "updated_at": START,
            }
            rows.application(link, job, None, None)
        kept = driver.execute(read, [caller.organisation_id]).fetchall()
        assert all(any(row[number] for row in kept) for number in range(1, 1 + len(columns)))
        driver.execute(f"UPDATE applications SET {', '.join(f'{name} = NULL' for name in columns)}")
        session.execute(text(migration.FILL), {"ids": [row[0] for row in kept]})
        assert driver.execute(read, [caller.organisation_id]).fetchall() == kept
        session.rollback()
