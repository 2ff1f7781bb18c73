"""Pieces of work of a kind of a test's own."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import pytest

import store
from store import outbox
from store.database.ids import new_id
from workers import jobs

LEASE = timedelta(minutes=1)


@dataclass(frozen=True)
class Party:
    organisation_id: UUID
    livemode: bool = True


def party(livemode=True):
    return Party(new_id(), livemode)


def take(**options):
    with store.at_once() as means:
        return outbox.take(means, "test", **{"lease": LEASE} | options)


def add(count=1, job="test", owner=None):
    with store.transaction() as session:
        outbox.add_all(session, owner, job, [{"number": number} for number in range(count)])


def find(id):
    with store.transaction() as session:
        return session.get(outbox.OutboxItem, id)


@pytest.fixture
def kind(monkeypatch):
    """Make a kind of work of a test's own."""

    def make(name, run, **changes):
        fields = {"threads": 1, "longest": LEASE} | changes
        monkeypatch.setitem(jobs.JOBS, name, jobs.Job(run, **fields))

    return make
