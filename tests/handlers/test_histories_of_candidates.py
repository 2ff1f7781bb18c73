"""Whatever happened to people: each row is of somebody, an address leads to one profile, and the erased are nowhere."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

import store
from tests.api import Api, Tenant, address
from tests.operations import states

PEOPLE = st.integers(0, 3)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["apply", "invite", "enroll", "note", "erase"]), PEOPLE, PEOPLE),
        st.tuples(st.just("merge"), PEOPLE, PEOPLE),
    ),
    max_size=14,
)
REFERRING = ("applications", "invitations", "enrollments", "candidate_notes", "scorecards")
ASTRAY = " UNION ALL ".join(
    f"SELECT '{table}', one.id FROM {table} AS one JOIN candidates ON candidates.id = one.candidate_id"
    " WHERE candidates.merged_into IS NOT NULL"
    for table in REFERRING
)
# Of those that are there, only who was erased has lost the address.
NAMELESS = "SELECT id FROM candidates WHERE gone_at IS NULL AND email = ''"


class History:
    """People of a new job, assessment and pipeline, and whom we think each address to be."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.job = api.job(published=True)["slug"]
        self.slug = api.assessment()["slug"]
        self.pipeline = api.pipeline()["slug"]
        self.emails = [f"history-{number}-{address()}" for number in range(4)]
        self.is_now: dict[str, str] = {}  # profiles by address
        self.forgotten: set[str] = set()  # addresses that have been of nobody since they were erased

    def known(self, email: str, id: str) -> None:
        assert self.is_now.setdefault(email, id) == id
        self.forgotten.discard(email)

    def apply(self, one: int, _: int) -> None:
        person = {"job_slug": self.job, "email": self.emails[one], "full_name": "Ada"}
        self.known(self.emails[one], states.post(self.api, "/applications/create/", person)["candidate_id"])

    def invite(self, one: int, _: int) -> None:
        email = self.emails[one]
        token = states.post(self.api, f"/assessments/{self.slug}/invites/", {"email": email})["invite_token"]
        self.known(email, self.api.get(f"/invites/{token}/").json()["candidate_id"])

    def enroll(self, one: int, _: int) -> None:
        email = self.emails[one]
        states.post(self.api, f"/pipelines/{self.pipeline}/enroll/", {"email": email})
        with store.transaction() as session:
            found = session.scalar(
                text("SELECT candidate_id FROM enrollments WHERE email_key = :email"), {"email": email}
            )
        self.known(email, str(found))

    def note(self, one: int, _: int) -> None:
        if id := self.is_now.get(self.emails[one]):
            states.post(self.api, f"/candidates/{id}/notes/", {"body": f"about {self.emails[one]}"})

    def merge(self, one: int, other: int) -> None:
        survivor, source = (self.is_now.get(self.emails[number]) for number in (one, other))
        if survivor and source:
            answer = self.api.post(f"/candidates/{survivor}/merge/", {"source_id": source})
            assert answer.status_code == (400 if survivor == source else 200)
            self.is_now = {email: survivor if id == source else id for email, id in self.is_now.items()}

    def erase(self, one: int, _: int) -> None:
        if id := self.is_now.get(self.emails[one]):
            states.post(self.api, f"/candidates/{id}/erase/")
            gone = {email for email, owner in self.is_now.items() if owner == id}
            self.forgotten |= gone
            self.is_now = {email: owner for email, owner in self.is_now.items() if email not in gone}

    def check(self) -> None:
        assert query(ASTRAY) == []
        assert query(NAMELESS) == []
        for id in set(self.is_now.values()):
            assert self.api.get(f"/candidates/{id}/").status_code == 200
        listed = {one["id"] for one in self.api.get("/candidates/").json()["results"]}
        assert set(self.is_now.values()) <= listed
        for table in (*REFERRING, "candidates", "events", "deliveries", "outbox", "idempotent_answers"):
            rows = " ".join(map(str, query(f'SELECT CAST(one AS text) FROM "{table}" AS one')))
            assert [email for email in self.forgotten if email in rows] == [], table


def query(statement: str) -> list[Any]:
    with store.transaction() as session:
        return list(session.execute(text(statement)))


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_after_any_history_nothing_refers_to_who_is_gone(tenant: Tenant, steps: list[Any]) -> None:
    history = History(tenant.live)
    for step, *people in steps:
        getattr(history, step)(*people)
    history.check()
