"""One bad row among good ones: the good ones are done, the bad one is set aside and can be put back."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import delete, select, text
from sqlalchemy.orm import Session

import store
from app.instance import doctor, metrics, processes
from app.instance.settings import Settings
from rules.clock import now
from store import outbox
from store.database import aside
from store.database.aside import Row, SetAside
from store.database.due import Due
from store.database.ids import new_id
from store.delivering import fanout
from store.events import Event
from store.operating import health, returning
from store.outbox import OutboxItem
from tests.api import Tenant
from tests.hooks import (
    Sender,
    caller,
    deliveries_of,
    happen,
    new_caller,
    new_endpoint,
    nothing_else_is_due,
    wait_until,
    wired,
)
from tests.workers import falling_due
from workers import apart, jobs, measures, refused, schedule
from workers.again import MOST, Again
from workers.events import Events

__all__ = ["caller", "nothing_else_is_due", "wired"]


@pytest.fixture(autouse=True)
def nothing_aside(wired: Settings) -> None:
    with store.transaction() as session:
        session.execute(text("DELETE FROM set_aside"))


def set_aside() -> dict[tuple[str, UUID], SetAside]:
    with store.transaction() as session:
        found = session.scalars(select(SetAside).where(SetAside.kind != falling_due.NOTED))
        return {(one.kind, one.row_id): one for one in found}


def left(due: Due, ids: list[UUID]) -> set[UUID]:
    """Return which of some rows are still due, set aside or not."""
    with store.transaction() as session:
        return set(session.scalars(select(due._id).where(*due.among([Row(id) for id in ids]))))


def tried_again() -> None:
    """Try what was set aside until nothing of it is to be tried now."""
    again = Again(schedule.KINDS)
    while again.turn() is not None:
        pass


def is_told(kind: str) -> bool:
    findings = [one for one in doctor._set_aside(None) if one.text.startswith(f"{kind}: 1 ")]
    figures = {
        (sample.name, *sample.labels.values()): sample.value
        for family in metrics.Waiting().collect()
        for sample in family.samples
    }
    return [one.level for one in findings] == ["wrong"] and figures["hiring_set_aside", kind] == 1


def put_back(kind: str) -> int:
    with store.transaction() as session:
        return returning.put_back(session, kind)


@pytest.mark.parametrize("kind", schedule.KINDS, ids=lambda kind: kind.name)
def test_a_row_that_fails_when_it_falls_due_stops_no_other(kind: schedule.Kind, tenant: Tenant) -> None:
    ids = falling_due.make(kind, tenant)
    bad = ids[0]  # the one that every look would begin with
    assert left(kind.due, ids) == set(ids)
    with falling_due.stubborn(kind, bad):
        for _ in range(30):  # other tests may have left more than a turn does
            schedule.turn(kind, threading.Event())
            tried_again()
            if left(kind.due, ids) == {bad}:
                break
        ((known, note),) = set_aside().items()
        assert known == (kind.name, bad)
        assert "This row is stubborn." in note.reason
        assert is_told(kind.name)
        schedule.turn(kind, threading.Event())  # it is not tried again at once
        tried_again()
        assert [one.tries for one in set_aside().values()] == [1]
        put_back(kind.name)
        schedule.turn(kind, threading.Event())
        assert list(set_aside()) == [(kind.name, bad)]
    assert put_back(kind.name) == 1
    schedule.turn(kind, threading.Event())
    assert (left(kind.due, ids), set_aside()) == (set(), {})


@pytest.mark.parametrize("name", jobs.JOBS)
def test_work_that_fails_again_and_again_is_set_aside_and_stops_no_other(
    name: str, nothing_else_is_due: None, wired: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, done = jobs.JOBS[name], []

    def run(id: UUID, arguments: dict[str, Any]) -> None:
        if "good" in arguments:
            done.append(id)
        else:
            job.run(id, arguments)  # which finds nothing that it needs

    monkeypatch.setitem(jobs.JOBS, name, replace(job, run=run))
    with store.transaction() as session:
        outbox.add_all(session, None, name, [{}, {"good": 1}, {"good": 2}])
    with store.transaction() as session:
        bad = session.scalars(
            select(OutboxItem).where(OutboxItem.job == name, OutboxItem.arguments == {})
        ).one()
        bad.attempts = job.attempts - 1
    with processes.working(wired, [name]):
        wait_until(lambda: len(done) == 2 and bool(set_aside()))
        assert list(set_aside()) == [(name, bad.id)]
        assert is_told(name)
        with store.transaction() as session:
            assert [one for one in health.given_up(session) if one[0] == name] == []  # it is told of once
        monkeypatch.setitem(jobs.JOBS, name, replace(job, run=lambda id, arguments: done.append(id)))
        assert put_back(name) == 1
        wait_until(lambda: bad.id in done)
    assert set_aside() == {}
    with store.transaction() as session:  # others read what is asked for of this kind
        ids = [bad.id, *done]
        session.execute(delete(OutboxItem).where(OutboxItem.id.in_(ids)))


@pytest.mark.parametrize("name", jobs.JOBS)
def test_work_that_cannot_be_begun_keeps_nobody_elses_from_being_done(
    name: str, nothing_else_is_due: None, wired: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refused, "SECONDS", 2.0)
    done: list[str] = []

    def run(_id: UUID, arguments: dict[str, Any]) -> None:
        done.append(arguments["of"])

    monkeypatch.setitem(jobs.JOBS, name, replace(jobs.JOBS[name], run=run))
    bad, other = new_caller(), new_caller()
    begun = f"TG_OP = 'UPDATE' AND OLD.organisation_id = '{bad.organisation_id}' AND OLD.job = '{name}'"
    with falling_due.refusing("begun", "outbox", begun):
        with store.transaction() as session:
            for of, owner in (("bad", bad), ("other", other)):
                outbox.add(session, owner, name, of=of)
        with processes.working(wired, [name]):
            wait_until(lambda: done == ["other"] and list(set_aside()) == [(name, bad.organisation_id)])
            assert is_told(name)
    with processes.working(wired, [name]):
        wait_until(lambda: done == ["other", "bad"] and not set_aside())
    with store.transaction() as session:  # the same
        owners = bad.organisation_id, other.organisation_id
        session.execute(delete(OutboxItem).where(OutboxItem.organisation_id.in_(owners)))


def test_an_event_that_cannot_be_fanned_out_stops_no_other(wired: Settings) -> None:
    mine, other = new_caller(), new_caller()
    endpoints = [new_endpoint(one)[0] for one in (mine, other)]
    with store.transaction() as session:
        session.execute(text("UPDATE events SET fanned_out_at = now() WHERE fanned_out_at IS NULL"))
    happen(mine, "job.created", "job.closed")
    happen(other, "job.created")
    with store.transaction() as session:
        bad = session.scalars(
            select(Event.id).where(Event.fanned_out_at.is_(None)).order_by(Event.id)
        ).first()
    assert bad
    sender = Sender()
    kind = SimpleNamespace(due=fanout.WAITING)
    events = Events(sender)
    counted = measures.FANNED_OUT._value.get()
    with falling_due.stubborn(kind, bad):
        events.turn()
        assert len(deliveries_of(endpoints[1])) == 1
        wait_until(lambda: bool(set_aside()) and not events._apart)
        assert [len(deliveries_of(one)) for one in endpoints] == [1, 1]
        assert measures.FANNED_OUT._value.get() == counted + 2
        assert sender.rung
        assert is_told("fan-out")
        with store.transaction() as session:
            assert health.figures(session).events_waiting == 0
    put_back("fan-out")
    events.turn()
    events.stop()
    assert [len(deliveries_of(one)) for one in endpoints] == [2, 1]
    assert set_aside() == {}


def test_an_event_that_is_tried_again_is_alone_and_one_in_a_turn(
    wired: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = new_caller(), new_caller()
    endpoints = [new_endpoint(one)[0] for one in (mine, other)]
    with store.transaction() as session:
        session.execute(text("UPDATE events SET fanned_out_at = now() WHERE fanned_out_at IS NULL"))
    happen(mine, "job.created", "job.closed")
    with store.transaction() as session:
        waiting = session.scalars(select(Event.id).where(Event.fanned_out_at.is_(None))).all()
        for id in waiting:
            aside.keep(session, "fan-out", [Row(id, mine.organisation_id, True)], ValueError(), again=True)
        session.execute(text("UPDATE set_aside SET again_at = now()"))
    happen(other, "job.created")

    def turn() -> tuple[list[int], list[int]]:
        Events(Sender()).turn()
        return [len(deliveries_of(one)) for one in endpoints], sorted(
            one.tries for one in set_aside().values()
        )

    kind = SimpleNamespace(due=fanout.WAITING)
    with falling_due.stubborn(kind, waiting[0]), monkeypatch.context() as patch:
        patch.setattr(Events, "_part", lambda *_: pytest.fail("it failed others"))
        with store.transaction() as session:
            session.execute(
                text("UPDATE set_aside SET again_at = again_at - interval '1 minute' WHERE row_id = :id"),
                {"id": waiting[0]},
            )
        assert turn() == ([0, 1], [1, 2])
        assert turn() == ([1, 1], [2])
    with store.transaction() as session:
        session.execute(text("UPDATE set_aside SET again_at = now()"))
    assert turn() == ([2, 1], [])


def test_rows_that_somebody_has_in_hand_are_put_off_with_their_organisation_alone(wired: Settings) -> None:
    mine, other = (
        Row(one.organisation_id, one.organisation_id, livemode=True) for one in (new_caller(), new_caller())
    )
    rows, tried = [replace(mine, id=UUID(int=number)) for number in range(1, 60)], []

    def do(session: Any, those: Any) -> None:
        tried.append(len(those))
        if any(one.organisation_id == mine.organisation_id for one in those):
            raise store.WaitRanOut("a lock")

    assert apart.each("test", [*rows, other], do) == 1
    assert len(tried) < 15  # a wait for each row would be long
    assert len(set_aside()) == len(rows)


def bad_and_good(number: int) -> tuple[list[Row], list[Row], Callable[[Any, Any], None], list[int]]:
    """So many rows of one that all fail, of another that all succeed, what does it, and to how many at a time."""
    bad, good = (
        [Row(UUID(int=place), owner, livemode=True) for place in range(first, first + number)]
        for owner, first in ((UUID(int=1), 0), (UUID(int=2), number))
    )
    tried: list[int] = []

    def do(_session: Any, those: Any) -> None:
        tried.append(len(those))
        if not {one.organisation_id for one in those} == {UUID(int=2)}:
            raise ValueError

    return bad, good, do, tried


def test_what_succeeds_is_done_before_what_fails_is_looked_at_closer(wired: Settings) -> None:
    bad, good, do, tried = bad_and_good(16)
    apart.each("test", [*bad, *good], do, hurry=True)
    assert tried[:2] == [16, 16]
    assert len(set_aside()) == len(bad)


def test_an_organisation_is_apart_from_another_before_its_own_rows_are_from_each_other(
    wired: Settings,
) -> None:
    bad, good, do, tried = bad_and_good(16)
    assert apart.each("test", [*bad, *good[:1]], do, hurry=True) == 1
    assert tried[:2] == [16, 1]


def test_for_whom_it_fails_is_found_and_nothing_of_theirs_is_looked_at_closer(wired: Settings) -> None:
    bad, good, do, tried = bad_and_good(16)
    assert apart.failing("test", [*bad, *good], do) == {(UUID(int=1), True)}
    assert tried == [16, 16]
    assert apart.failing("test", bad, do) == {(UUID(int=1), True)}  # whose it fails, if it is nobody else's
    assert (tried, set_aside()) == ([16, 16], {})


def test_what_is_set_aside_is_tried_again_after_longer_and_longer_waits(tenant: Tenant) -> None:
    kind = next(kind for kind in schedule.KINDS if kind.name == "job expiries")
    bad = falling_due.make(kind, tenant)[0]
    waits = []
    with falling_due.stubborn(kind, bad):
        schedule.turn(kind, threading.Event())
        for _ in range(13):
            tried_again()
            (note,) = set_aside().values()
            waits.append((note.again_at - now()).total_seconds())
            with store.transaction() as session:
                session.execute(text("UPDATE set_aside SET again_at = now()"))
    assert [round(wait / 5) for wait in waits[:4]] == [1, 2, 4, 8]
    assert max(waits) <= 3600
    assert waits[-1] > timedelta(minutes=59).total_seconds()
    tried_again()
    assert set_aside() == {}


def test_nobody_waits_while_the_rows_of_somebody_else_are_looked_at_closer(
    tenant: Tenant, other: Tenant
) -> None:
    kind = next(kind for kind in schedule.KINDS if kind.name == "job expiries")
    ids = [id for _ in range(5) for id in falling_due.make(kind, tenant)]
    good = falling_due.make(kind, other)
    tried: list[set[UUID]] = []

    def do(session: Session, rows: Sequence[Row]) -> int:
        tried.append({row.id for row in rows})
        return kind.do(session, rows)

    with falling_due.stubborn(kind, *ids[1:]):
        replace(kind, do=do).batch()
        assert left(kind.due, [*ids, *good]) == set(ids)
        assert len(tried) <= 3
        assert {one.tries for one in set_aside().values()} == {0}
        fresh = falling_due.make(kind, other)
        tried.clear()
        schedule.turn(replace(kind, do=do), threading.Event())
        assert tried == [set(fresh)]
        tried_again()
    assert left(kind.due, [*ids, *fresh]) == set(ids[1:])
    assert {one.tries for one in set_aside().values()} == {1}


def test_what_is_due_behind_a_batch_that_fails_is_done_in_the_same_turn(
    tenant: Tenant, other: Tenant
) -> None:
    kind = next(kind for kind in schedule.KINDS if kind.name == "job expiries")
    ids = [id for _ in range(3) for id in falling_due.make(kind, tenant)]
    good = falling_due.make(kind, other)
    with falling_due.stubborn(kind, *ids):
        schedule.turn(replace(kind, size=len(ids)), threading.Event())
        assert left(kind.due, [*ids, *good]) == set(ids)


def noting(
    fails: Callable[[Row], bool], fault: Exception | None = None
) -> tuple[schedule.Kind, list[Sequence[Row]]]:
    """Return a kind of which some rows fail, and what was tried together of it."""
    tried: list[Sequence[Row]] = []

    def do(_session: Session, rows: Sequence[Row]) -> int:
        tried.append(rows)
        if any(map(fails, rows)):
            raise fault or ValueError
        return len(rows)

    return replace(schedule.KINDS[0], do=do), tried


def test_what_is_tried_again_is_of_everybody_in_turn(wired: Settings) -> None:
    kind, tried = noting(lambda row: row.organisation_id == owners[0])
    owners = [UUID(int=1), UUID(int=2)]
    with store.transaction() as session:
        for owner, number in zip(owners, (200, 1), strict=True):
            rows = [Row(new_id(), owner, livemode=True) for _ in range(number)]
            aside.keep_together(session, kind.name, rows, ValueError(), seconds=0.0)
    again = Again([kind])
    while again.turn() is not None and tried[-1][0].organisation_id != owners[1]:
        pass
    assert len(tried) < 100  # a half of them would be before it, were it not for turns


def test_of_what_failed_together_what_does_not_fail_is_done_in_few_tries(wired: Settings) -> None:
    kind, tried = noting(lambda row: row.id in bad)
    rows = [Row(new_id(), UUID(int=1), livemode=True) for _ in range(1_000)]
    bad = {rows[number].id for number in (3, 500, 501)}
    with store.transaction() as session:
        aside.keep_together(session, kind.name, rows, ValueError(), seconds=0.0)
    again = Again([kind])
    while again.turn() is not None:
        pass
    assert {row for _, row in set_aside()} == bad
    assert {one.tries for one in set_aside().values()} == {1}
    assert len(tried) < 100
    assert max(map(len, tried)) <= MOST
    assert again._sizes == {}


def test_rows_that_somebody_has_in_hand_are_put_off_together(wired: Settings) -> None:
    kind, tried = noting(lambda row: True, store.WaitRanOut("a lock"))
    rows = [Row(new_id(), UUID(int=1), livemode=True) for _ in range(50)]
    with store.transaction() as session:
        aside.keep_together(session, kind.name, rows, ValueError(), seconds=0.0)
    again = Again([kind])
    while again.turn() is not None:
        pass
    assert sum(map(len, tried)) == len(rows)  # each once, and then after a while
    assert {one.tries for one in set_aside().values()} == {0}


def test_a_row_that_one_process_tries_again_is_no_others_for_a_while(wired: Settings) -> None:
    kind = schedule.KINDS[0]
    with store.transaction() as session:
        aside.keep_together(session, kind.name, [Row(new_id())], ValueError(), seconds=0.0)
    with store.at_once() as means:
        assert aside.again(means, [kind.name])
        assert aside.again(means, [kind.name]) is None


def test_a_schedule_that_stops_waits_shortly_for_what_is_tried_again(
    wired: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.again.LAST_SECONDS", 0.1)
    began, goes_on = threading.Event(), threading.Event()

    def do(_session: Session, _rows: Sequence[Row]) -> int:
        began.set()
        return int(goes_on.wait(60))

    kind = replace(schedule.KINDS[0], do=do)
    with store.transaction() as session:
        aside.keep_together(session, kind.name, [Row(new_id())], ValueError(), seconds=0.0)
    again = Again([kind])
    again.start()
    assert began.wait(60)
    again.stop()
    assert again._thread.is_alive()
    goes_on.set()
    again._thread.join(60)
    assert set_aside() == {}
