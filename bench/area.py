"""The area's list of invitations as it grows: `python -m bench.area`.

Each page is asked for as a browser asks for it, by an owner and by a recruiter of a squad to which a tenth of the rows
belongs, of a thousand invitations and of a hundred thousand.
"""

import sys
import time
import urllib.request
from collections.abc import Iterator

from sqlalchemy import text

import store
from bench import figures
from bench.figures import Figure
from bench.sides import PLANS, free_port, prepare
from bench.start import answers
from rules import links
from store.accounts import members, signed_in
from store.accounts.organisations import Organisation

FEW, MANY, QUICK_MANY = 1_000, 100_000, 20_000
LIMIT, GROWTH = 0.5, 1.5  # s for the first rows; how many times as long they may take of many as of few
ROUNDS = 15
PAGES = {
    "all": "",
    "a status": "?status=completed",
    "an assessment": "?assessment=bench",
    "an address": "?email=candidate-7@example.com",
    "a tag": "?tag=spring",
    "an address that nobody has": "?email=nobody@example.com",
}
# A tenth belongs to an assessment of a squad of its own.
FILL = """
    INSERT INTO invitations SELECT made.* FROM invitations AS one,
    generate_series(CAST(:first AS int), CAST(:last AS int)) AS n, jsonb_populate_record(
        one, jsonb_build_object('id', gen_random_uuid(), 'token', md5('token' || n), 'email', n || '@example.com',
        'email_key', n || '@example.com', 'external_id', 'filled-' || n, 'status',
        (ARRAY['pending', 'started', 'completed', 'expired'])[1 + n % 4], 'assessment_id',
        CASE WHEN n % 10 = 0 THEN (SELECT id FROM assessments WHERE slug = 'squads-own') ELSE one.assessment_id END
    )) AS made WHERE one.external_id = 'reference-0'
"""
SQUAD = """
    WITH squad AS (
        INSERT INTO squads (id, created_at, organisation_id, name, slug)
        SELECT gen_random_uuid(), now(), id, 'Platform', 'platform' FROM organisations RETURNING id
    ), joined AS (
        INSERT INTO squad_members (squad_id, user_id, joined_at) SELECT squad.id, :user_id, now() FROM squad
    )
    INSERT INTO assessments SELECT made.* FROM squad, assessments AS one, jsonb_populate_record(
        one, jsonb_build_object('id', gen_random_uuid(), 'slug', 'squads-own', 'team_id', squad.id)) AS made
    WHERE one.slug = 'bench'
"""


def measure(quick: bool) -> list[Figure]:
    """Ask for each page of few rows, then of many."""
    with figures.place(plans=PLANS) as settings:
        key, port = prepare(), free_port()
        people = dict(sign_in())
        process = figures.start(
            [sys.executable, "-P", "-m", "app.cli", "web", "--port", str(port)], settings, PLANS=PLANS
        )
        try:
            figures.wait_until(
                lambda: answers(port, "/api/v1/public/org/", key), seconds=60, what="The start"
            )
            taken = {}
            most = QUICK_MANY if quick else MANY
            for first, last in ((1, FEW), (FEW + 1, most)):
                with store.transaction() as session:
                    session.execute(text(FILL), {"first": first, "last": last})
                with store.transaction() as session:
                    session.execute(text("ANALYZE invitations"))
                for who, cookie in people.items():
                    for what, query in PAGES.items():
                        taken[who, what, last] = [ask(port, cookie, query) for _ in range(ROUNDS)]
        finally:
            figures.stop(process)
    found = []
    for who in people:
        for what in PAGES:
            few, many = taken[who, what, FEW], taken[who, what, most]
            found.append(
                figures.at_most(f"area: invitations by {what}, {who}, of {most:,}", many, "s", LIMIT)
            )
            growth = figures.ratios(many, few)  # not of neighbours: the table grows but once
            found.append(
                figures.at_most(
                    f"area: invitations by {what}, {who}, against {FEW:,}", growth, "times", GROWTH
                )
            )
    return found


def sign_in() -> Iterator[tuple[str, str]]:
    """Make an owner and a recruiter of a squad, each with a session; give their cookies."""
    for role in ("owner", "recruiter"):
        with store.transaction() as session:
            owner = session.query(Organisation).one()
            made = members.add(
                session, organisation=owner, email=f"{role}@example.com", name="Grace", role=role
            )
            if role == "recruiter":
                session.execute(text(SQUAD), {"user_id": made.user_id})
            _, token = signed_in.begin(session, made.id, address="198.51.100.7", agent="a browser")
        yield role, f"{links.cookie()}={token}; area-livemode=true"


def ask(port: int, cookie: str, query: str) -> float:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/area/invitations/{query}", headers={"Cookie": cookie}
    )
    began = time.perf_counter()
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.status == 200
        assert b"area-nav" in answer.read()
    return time.perf_counter() - began


if __name__ == "__main__":
    figures.main(measure, __doc__)
