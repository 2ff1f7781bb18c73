"""The engine against a simple model of it, and what an outcome costs."""

from dataclasses import dataclass, field
from datetime import timedelta

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import text
from starlette.testclient import TestClient

import store
from rules.clock import now
from tests import api
from tests.api import Tenant, address
from tests.operations import states
from tests.pipelines import INTERVIEW, MANUAL, act, enroll, measured, pipeline, sit, told
from tests.statements import statements

__all__ = ["statements"]
from workers import schedule

STAGES = ("first", "manual", "second", "first", "interview")  # an assessment's name, or the kind of stage
ASSESSMENTS = ("first", "second")
LIMIT = 1_000
FITS = {
    "advance": ("active",),
    "reject": ("active", "on_hold"),
    "hold": ("active", "on_hold"),
    "unhold": ("on_hold",),
}
WHO = st.sampled_from((0, 0, 1))
[RETRIES] = [kind for kind in schedule.KINDS if kind.name == "enrollments"]


@dataclass
class Model:
    """What one enrollment should be."""

    email: str
    id: str = ""
    status: str = "active"
    stage: int = 0
    missed: bool | None = None
    parked: bool = False
    waits_for: str | None = None  # the assessment whose invitation the stage has
    # Assessments that the candidate is invited to, with the verdict.
    verdicts: dict[str, bool | None] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        return self.status in ("passed", "rejected")

    def enter(self, world: "World") -> None:
        """Begin a stage, and go on as long as its outcome is known."""
        name, self.parked, self.waits_for = STAGES[self.stage], False, None
        if name not in ASSESSMENTS:
            return
        if name not in self.verdicts:
            if not world.left:
                self.parked = True
                return
            world.invited += 1
            self.verdicts[name] = None
        self.waits_for = name
        if self.verdicts[name] is not None:
            self.outcome(world, passed=bool(self.verdicts[name]))

    def outcome(self, world: "World", *, passed: bool) -> None:
        if self.status == "on_hold":
            self.missed = passed
        elif self.status == "active" and passed:
            self.advance(world)
        elif self.status == "active":
            self.reject(world)

    def advance(self, world: "World") -> None:
        self.missed = None
        if self.stage + 1 == len(STAGES):
            self.status, self.parked = "passed", False
            world.count("completed")
            return
        self.stage += 1
        world.count("advanced")
        self.enter(world)

    def reject(self, world: "World") -> None:
        self.status, self.missed, self.parked = "rejected", None, False
        world.count("rejected")


class World(RuleBasedStateMachine):
    """An organisation with one pipeline and a few candidates."""

    http: TestClient

    def __init__(self) -> None:
        super().__init__()
        self.tenant: Tenant = api.tenant(self.http)
        kinds = {"manual": MANUAL, "interview": INTERVIEW}
        self.stages = {name: measured(self.tenant.live) for name in ASSESSMENTS}
        self.slug = pipeline(self.tenant.live, *[{**kinds, **self.stages}[name] for name in STAGES])
        self.people = [Model(address()) for _ in range(2)]
        self.left, self.archived, self.invited = True, False, 0
        self.counts: dict[str, int] = {}

    def may_sit(self) -> list[tuple[Model, str]]:
        return [
            (one, name) for one in self.people for name, verdict in one.verdicts.items() if verdict is None
        ]

    def count(self, event: str) -> None:
        self.counts[event] = self.counts.get(event, 0) + 1

    @initialize()
    def begins(self) -> None:
        self.enrolls(0)

    @rule(who=WHO)
    def enrolls(self, who: int) -> None:
        one = self.people[who]
        answer = self.tenant.live.post(f"/pipelines/{self.slug}/enroll/", {"email": one.email})
        if self.archived:
            assert answer.status_code == 400
        elif one.id:
            assert (answer.status_code, answer.json()["id"]) == (200, one.id)
        elif not self.left:
            assert answer.json()["error"]["code"] == "INVITE_QUOTA_EXCEEDED"
        else:
            assert answer.status_code == 201
            one.id = answer.json()["id"]
            self.count("enrolled")
            one.enter(self)

    @rule(who=WHO, action=st.sampled_from(("hold", "unhold", "advance", "hold", "unhold", "reject")))
    def moves_by_hand(self, who: int, action: str) -> None:
        one = self.people[who]
        if not one.id:
            return
        answer = act(self.tenant.live, one.id, action)
        assert answer.status_code == (200 if one.status in FITS[action] else 400)
        if answer.status_code == 400:
            assert answer.json()["error"]["details"]["status"] == one.status
        elif action == "advance":
            one.advance(self)
        elif action == "reject":
            one.reject(self)
        elif action == "hold" and one.status == "active":
            one.status = "on_hold"
            self.count("held")
        elif action == "unhold":
            one.status, missed, one.missed = "active", one.missed, None
            self.count("unheld")
            if missed is not None:
                one.outcome(self, passed=missed)

    @precondition(lambda self: self.may_sit())
    @rule(data=st.data(), passes=st.sampled_from((True, True, False)), held=st.booleans())
    def sits(self, data: st.DataObject, passes: bool, held: bool) -> None:
        one, name = data.draw(st.sampled_from(self.may_sit()))
        if held:
            self.moves_by_hand(self.people.index(one), "hold")
        self.hands_in(one, name, passes=passes)
        if held and data.draw(st.booleans()):
            self.moves_by_hand(self.people.index(one), "unhold")

    def hands_in(self, one: Model, name: str, *, passes: bool) -> None:
        query = {"email": one.email, "assessment": self.stages[name]["assessment_slug"]}
        [invitation] = self.tenant.live.get("/invites/", params=query).json()["results"]
        sit(self.tenant.live, invitation["invite_token"], 42 if passes else 41)
        one.verdicts[name] = passes
        if one.waits_for == name and not one.is_over:
            one.outcome(self, passed=passes)

    @rule(how=st.sampled_from(("archives_or_not", "spends_the_month_or_gets_another", "an_hour_goes_by")))
    def meanwhile(self, how: str) -> None:
        getattr(self, how)()

    def archives_or_not(self) -> None:
        self.archived = not self.archived
        self.tenant.live.patch(f"/pipelines/{self.slug}/", {"archived": self.archived})

    def spends_the_month_or_gets_another(self) -> None:
        self.left = not self.left
        with store.transaction() as session:
            session.execute(
                text("""
                INSERT INTO invite_usage VALUES (:id, :month, :used)
                ON CONFLICT (organisation_id, month) DO UPDATE SET used = :used
                """),
                {
                    "id": self.tenant.organisation.id,
                    "month": now().date().replace(day=1),
                    "used": 0 if self.left else LIMIT,
                },
            )

    def an_hour_goes_by(self) -> None:
        with store.transaction() as session:
            session.execute(
                text(
                    "UPDATE enrollments SET retry_at = :past WHERE organisation_id = :id AND retry_at IS NOT NULL"
                ),
                {"past": now() - timedelta(seconds=1), "id": self.tenant.organisation.id},
            )
        while RETRIES.batch()[1]:
            pass
        for one in self.people:
            if one.parked and one.status == "active":
                one.enter(self)

    @invariant()
    def all_is_as_it_should_be(self) -> None:
        found = {
            one["id"]: one
            for one in self.tenant.live.get(f"/pipelines/{self.slug}/enrollments/").json()["results"]
        }
        people = {one.id: one for one in self.people if one.id}
        assert found.keys() == people.keys()
        for id, one in people.items():
            shown = found[id]
            assert (shown["status"], shown["current_stage"]) == (one.status, one.stage)
            assert (shown["completed_at"] is not None) == one.is_over
            assert (shown["waiting_reason"] == "invite_quota") == one.parked
            assert (shown["invite_token"] is not None) == (one.waits_for is not None)

    def teardown(self) -> None:
        invitations = self.tenant.live.get("/invites/", params={"page_size": 100}).json()["results"]
        places = {(one["email"], one["assessment"]["slug"]) for one in invitations}
        assert len(places) == len(invitations) == self.invited
        types = [one["type"] for one in told(self.tenant.live)]
        assert types.count("invitation.created") == self.invited
        seen = {kind: types.count(f"pipeline.{kind}") for kind in (
            "enrolled", "advanced", "completed", "rejected", "held", "unheld",
        )}  # fmt: skip
        assert {kind: number for kind, number in seen.items() if number} == self.counts


def test_whatever_happens_an_enrollment_is_where_the_model_has_it(http: TestClient) -> None:
    machine = type("OfThisRun", (World,), {"http": http})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=30, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


# --- What an outcome costs


def submitted(tenant: Tenant, token: str, statements: list[str]) -> int:
    """Hand in an assessment, and return how many statements that took."""
    side, place = states.candidate(tenant.live), f"/invites/{token}"
    [case] = states.post(side, f"{place}/start/")["cases"]
    side.put(f"{place}/answers/{case['assessment_case_id']}/", {"answer": 42})
    statements.clear()
    states.post(side, f"{place}/submit/")
    return len(statements)


def test_an_outcome_costs_a_statement_where_nobody_waits_and_twelve_where_it_invites_to_the_next_stage(
    tenant: Tenant, statements: list[str]
) -> None:
    stage = measured(tenant.live)
    plain = submitted(tenant, tenant.live.invitation(stage["assessment_slug"])["invite_token"], statements)
    assert len([one for one in statements if "enrollments" in one]) == 1
    made = enroll(tenant.live, pipeline(tenant.live, stage, measured(tenant.live), MANUAL))
    moved = submitted(tenant, made["invite_token"], statements)
    assert moved - plain <= 12
    assert tenant.live.get(f"/pipelines/enrollments/{made['id']}/").json()["current_stage"] == 1
