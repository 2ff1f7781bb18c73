"""`hiring trigger`, `simulate` and `clock` against a running instance, found by its data folder."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from app.cli import main
from app.cli.world.asking import span
from tests.app.instances import Up, up, walkable

NOBODY = ("--url", "http://127.0.0.1:1", "--key", "ct_test_x")


@dataclass
class World:
    """An instance, and its test mode."""

    up: Up
    data: Path

    def api(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        answer = httpx.request(
            method,
            f"{self.up.facts['base_url']}/api/v1/public{path}",
            headers={"Authorization": f"Bearer {self.up.facts['test_key']}"},
            json=body,
            timeout=60,
        )
        return dict(answer.raise_for_status().json())

    def types(self) -> list[str]:
        return [one["type"] for one in self.api("GET", "/events/?page_size=100")["results"]]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with walkable() as folder, up(folder / "data") as running:
        yield World(running, folder / "data")


@pytest.fixture
def said(world: World) -> Callable[..., Any]:
    """What a command prints as JSON."""

    def run(*words: str) -> Any:
        done = CliRunner().invoke(main, [*words, "--data", str(world.data), "--json"])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    return run


def test_a_token_that_begins_with_a_dash_is_no_option() -> None:
    said = CliRunner().invoke(main, ["simulate", "candidate", "-RdDEE", "--score", "5", "--data", "/nowhere"])
    assert "No such option" not in said.output
    assert "/nowhere" in said.output


def refusal(*words: str) -> str:
    done = CliRunner().invoke(main, words)
    assert done.exit_code != 0
    return done.output


def an_offer(world: World) -> str:
    job = world.api("POST", "/jobs/create/", {"title": "Engineer"})
    world.api("POST", f"/jobs/{job['slug']}/publish/")
    person = {"job_slug": job["slug"], "email": "ada@example.com", "full_name": "Ada Lovelace"}
    applied = world.api("POST", "/applications/create/", person)
    letter = {"title": "Engineer", "body_html": "<p>Join us.</p>", "application_id": applied["id"]}
    id = str(world.api("POST", "/offers/", letter)["id"])
    world.api("POST", f"/offers/{id}/send/")
    return id


def test_an_example_of_an_event_is_sent(world: World, said: Callable[..., Any]) -> None:
    sent = said("trigger", "offer.accepted")
    assert (sent["type"], sent["data"]["simulated"]) == ("offer.accepted", True)
    assert "offer.accepted" in world.types()


def test_a_candidate_takes_an_assessment_and_time_goes_on(world: World, said: Callable[..., Any]) -> None:
    case = {"title": "Sum", "case_type": "numeric", "question": "6 × 7?", "answer_number": 42}
    cases = [{"case_id": world.api("POST", "/cases/create/", case)["id"], "source": "org"}]
    slug = world.api("POST", "/assessments/create/", {"title": "Sums", "cases": cases})["slug"]
    world.api("PATCH", f"/assessments/{slug}/update/", {"status": "active"})
    tokens = [
        world.api("POST", f"/assessments/{slug}/invites/", {"email": f"{name}@example.com"})["invite_token"]
        for name in ("ada", "grace", "edsger")
    ]
    assert said("simulate", "candidate", tokens[0])["passed"] is True
    assert said("simulate", "candidate", tokens[1], "--score", "0", "--minutes", "5")["passed"] is False
    before = said("clock")
    assert before["next_due_at"]
    moved = said("clock", "advance", "next")
    while moved["next_due_at"] and "invitation.expired" not in {one["kind"] for one in moved["happened"]}:
        moved = said("clock", "advance", "next")
    assert world.api("GET", f"/invites/{tokens[2]}/")["status"] == "expired"
    assert said("clock")["advanced_seconds"] > before["advanced_seconds"]
    again = CliRunner().invoke(main, ["simulate", "candidate", tokens[2], "--data", str(world.data)])
    assert (again.exit_code, "VALIDATION_ERROR) expired" in again.output) == (1, True)
    printed = CliRunner().invoke(main, ["clock", "advance", "1h30m", "--data", str(world.data)])
    assert "advanced seconds  5400" in printed.stdout


def test_people_apply_answer_offers_and_are_interviewed(world: World, said: Callable[..., Any]) -> None:
    job = world.api("POST", "/jobs/create/", {"title": "Engineer"})["slug"]
    world.api("POST", f"/jobs/{job}/publish/")
    made = said("simulate", "applications", job, "--count", "2", "--quality", "strong", "--seed", "7")
    assert [one["quality"] for one in made["applications"]] == ["strong", "strong"]
    assert (
        said("simulate", "offer", an_offer(world), "decline", "--reason", "Another.")["status"] == "declined"
    )
    room = world.api(
        "POST", "/interviews/create/", {"title": "Interview", "candidate_email": "a@example.com"}
    )
    held = said("simulate", "interview", room["id"], "--recommendation", "advance")
    assert held["status"] == "ended"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("trigger", "offer.acceptd", *NOBODY), "Did you mean 'offer.accepted'?"),
        (("clock", *NOBODY), "does not answer"),
        (("clock", "--key", "ct_live_x"), "test-mode key"),
        (("clock", "--url", "http://127.0.0.1:1"), "--key"),
        (("clock", "advance", *NOBODY), "hiring clock advance 3d"),
        (("clock", "advance", "soon", *NOBODY), "is no span"),
        (("clock", "advance", "2y", *NOBODY), "is no span"),
        (("clock", "advance", "367d", *NOBODY), "is no span"),
        (("simulate", "candidate", "x", "--outcome", "pass", "--score", "1", *NOBODY), "not both"),
        (("simulate", "offer", "x", "accept", *NOBODY), "valid UUID"),
    ],
)
def test_what_cannot_be_done_is_said(words: tuple[str, ...], told: str) -> None:
    assert told in refusal(*words)


def test_nothing_that_runs_is_said_with_what_helps(tmp_path: Path) -> None:
    assert "Start `hiring up`" in refusal("clock", "--data", str(tmp_path / "none"))


def test_a_refusal_is_told_with_its_code_and_its_fields(world: World) -> None:
    where = ("--data", str(world.data))
    assert "NOT_FOUND" in refusal("simulate", "candidate", "nobody/../x", *where)
    assert "/type" in refusal("trigger", "webhook.test", *where)
    assert "/violations/0" in refusal("simulate", "candidate", "x", "--violation", "odd", *where)


def test_spans_are_read() -> None:
    assert (span("3d"), span("1h30m"), span("2w1s")) == (259_200, 5_400, 1_209_601)
