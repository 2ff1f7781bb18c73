"""Briefs on CVs: in a queue of their own, within an hour's budget, asked for once, and deciding nothing."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import date
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as some
from sqlalchemy import select

import gateways.screening
import store
from gateways import briefs, models
from rules.assistant import Said
from rules.errors import AiProviderError
from rules.plans import EXTRA_CAPS
from rules.steps import USED_UP, Task
from store.applying.screening import Screening
from tests.api import Api, Tenant
from tests.injections import ATTEMPTS, judged
from tests.providers import Provider, provider
from tests.workers.test_screening import PYTHON, apply, arrange, asked, rerun, result, screen, told
from workers import screening
from workers.jobs import JOBS

OF_THE_BRIEF = {"ai_brief", "ai_red_flags", "ai_rationale", "brief_error", "brief_input"}
WRITTEN = {"brief": "Ada knows Python.", "red_flags": ["Gap in 2024"], "rationale": "Her skills section."}


@pytest.fixture
def server() -> Iterator[Provider]:
    """A model that does as the CV says."""
    one = provider()
    one.forget()
    models.configure(base_url=one.url, model="obey", api_key="a-key-of-ours")
    yield one
    models.configure(base_url="", model="", api_key="")


def cv(order: str) -> bytes:
    return f"Ada Lovelace\nada@example.com\n\nSkills: Python\n\nExperience\n2015 - 2023 Engineer\n\n{order}\n".encode()


def orders(**said: Any) -> bytes:
    return cv(f"<<{json.dumps({'say': json.dumps(said)})}>>")


def decided(api: Api, id: str) -> dict[str, Any]:
    """All that a brief must leave alone."""
    found = result(api, id)
    names = ("l3_score", "l3_breakdown", "evidence", "l1_passed", "auto_advanced", "model_version")
    shown = api.get(f"/applications/{id}/").json()
    return {name: found[name] for name in names} | {
        "status": shown["status"],
        "invited": shown["invitation_id"],
    }


def test_a_brief_has_a_queue_of_its_own_and_screening_does_not_wait_for_it(
    tenant: Tenant, server: Provider
) -> None:
    assert JOBS["brief"].run is screening.brief
    id = apply(tenant.live, arrange(tenant.live, PYTHON, cv_analysis_enabled=True), orders(**WRITTEN))
    [first] = asked(id)
    screening.screen(UUID(int=0), first)
    assert (result(tenant.live, id)["status"], list(server.seen())) == ("scored", [])
    assert told(tenant.live, "application.screened")[0]["screening"]["status"] == "scored"
    [_, second] = asked(id)
    for _ in range(2):  # it may run twice
        screening.brief(UUID(int=0), second)
    found = result(tenant.live, id)
    assert (found["status"], found["ai_brief"], found["brief_error"]) == ("briefed", WRITTEN["brief"], "")
    assert len(list(server.seen())) == 1
    assert len(told(tenant.live, "application.screened")) == 1


def test_the_same_is_asked_for_once_and_something_else_anew(tenant: Tenant, server: Provider) -> None:
    job = arrange(tenant.live, PYTHON, cv_analysis_enabled=True)
    id = apply(tenant.live, job, orders(**WRITTEN))
    screen(id)
    before = decided(tenant.live, id)
    for action in ("rerun_brief", "full"):
        assert rerun(tenant.live, id, action)["ai_brief"] == WRITTEN["brief"]
    assert len(list(server.seen())) == 1
    assert tenant.live.patch(f"/jobs/{job}/update/", {"title": "Mathematician"}).is_success
    assert rerun(tenant.live, id, "rerun_brief")["ai_brief"] == WRITTEN["brief"]
    assert len(list(server.seen())) == 2
    assert decided(tenant.live, id) == before


def test_an_organisation_has_so_many_in_an_hour_and_another_its_own(
    tenant: Tenant, other: Tenant, server: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EXTRA_CAPS, "briefs", 1)
    for api, count in ((tenant.live, 2), (other.live, 1)):
        job = arrange(api, PYTHON, cv_analysis_enabled=True)
        ids = [apply(api, job, orders(**WRITTEN)) for _ in range(count)]
        for id in ids:
            screen(id)
        found = [result(api, id) for id in ids]
        assert [one["brief_error"] for one in found] == ["", USED_UP][:count]
        assert [one["status"] for one in found] == ["briefed", "scored"][:count]
    assert len(list(server.seen())) == 2


def test_what_is_screened_anew_is_not_briefed_on_what_was(tenant: Tenant, server: Provider) -> None:
    id = apply(tenant.live, arrange(tenant.live, PYTHON, cv_analysis_enabled=True), orders(**WRITTEN))
    screening.screen(UUID(int=0), asked(id)[0])
    files = {"file": ("new.txt", orders(**{**WRITTEN, "brief": "The new one."}))}
    assert (
        tenant.live.post(f"/applications/{id}/attachments/", data={"kind": "cv"}, files=files).status_code
        == 201
    )
    screening.brief(UUID(int=0), asked(id)[1])  # of the old one
    assert (result(tenant.live, id)["status"], result(tenant.live, id)["ai_brief"]) == ("pending", "")
    screening.screen(UUID(int=0), asked(id)[2])
    screening.brief(UUID(int=0), asked(id)[-1])
    assert result(tenant.live, id)["ai_brief"] == "The new one."


def test_injections_in_cvs_stay_data_and_change_neither_score_nor_order(
    tenant: Tenant, server: Provider, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"screen_auto_advance_enabled": True, "screen_auto_advance_l3_min": 100}
    cobol = {**PYTHON, "key": "cobol", "label": "COBOL", "values": ["COBOL"]}
    job = arrange(tenant.live, PYTHON, cobol, cv_analysis_enabled=True, **settings)
    ids = {name: apply(tenant.live, job, cv(text)) for name, text in ATTEMPTS.items()}
    for id in ids.values():
        screening.screen(UUID(int=0), asked(id)[0])
    before = {id: decided(tenant.live, id) for id in ids.values()}
    by_score = "/applications/?ordering=-l3_score&page_size=100"
    order = [one["id"] for one in tenant.live.get(by_score).json()["results"]]
    for id in ids.values():
        screening.brief(UUID(int=0), asked(id)[1])
    assert {id: decided(tenant.live, id) for id in ids.values()} == before
    assert [one["id"] for one in tenant.live.get(by_score).json()["results"]] == order
    assert {one["status"] for one in before.values()} == {"submitted"}
    outcomes: Counter[str] = Counter()
    transcripts = [one["body"] for one in server.seen()]
    assert len(transcripts) == len(ATTEMPTS) >= 20
    for asked_for, id in zip(transcripts, ids.values(), strict=True):
        assert set(asked_for) == {"model", "messages", "temperature", "max_tokens"}  # no tools at all
        first, second = asked_for["messages"]
        assert first == {"role": "system", "content": briefs.ORDERS}
        assert second["role"] == "user"
        data = json.loads(second["content"])
        assert set(data) == {"job", "looked_for", "cv"}
        found = result(tenant.live, id)
        with store.transaction() as session:
            profile = session.scalars(
                select(Screening.profile).where(Screening.application_id == UUID(id))
            ).one()
        assert profile
        assert data["cv"] == profile["text"][: briefs.LONGEST_CV]
        assert "a-key-of-ours" not in second["content"]
        outcomes["left brief_error" if found["brief_error"] else "changed the brief's words alone"] += 1
    with capsys.disabled():
        judged(print, "CVs", len(ATTEMPTS), outcomes | {"changed a score, an order or a status": 0})


ANYTHING = some.text() | some.builds(
    json.dumps,
    some.dictionaries(
        some.sampled_from(["brief", "red_flags", "rationale", "l3_score", "status", "auto_advanced"]),
        some.text() | some.lists(some.text()) | some.none() | some.integers(),
    ),
)


@given(said=ANYTHING | some.none(), model=some.booleans())
def test_whatever_a_model_says_only_the_brief_changes(said: str | None, model: bool) -> None:
    task = Task(
        uuid4(), "rerun_brief", "cv", date(2026, 1, 1), {"text": "CV"}, "", [], [PYTHON], "Job", "Text", True
    )

    def ask(*_: Any, **__: Any) -> Said:
        if said is None:
            raise AiProviderError
        return Said(said)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "is_configured", lambda: model)
        patch.setattr(models, "ask", ask)
        outcome = gateways.screening.run(task, seconds=5, brief=lambda: True)
    assert set(outcome.changes) <= OF_THE_BRIEF
    assert (outcome.scored, outcome.l3_score, outcome.later, outcome.brief_later) == (
        False,
        None,
        None,
        False,
    )
    assert bool(outcome.changes["brief_error"]) != ("ai_brief" in outcome.changes)
