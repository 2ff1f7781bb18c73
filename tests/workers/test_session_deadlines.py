import threading

import pytest

import schemas.sessions
import store
from store.assessing import sessions
from store.database import engine
from tests.sittings import CHOICE, invite
from workers import schedule


@pytest.fixture(autouse=True)
def _store(database_url):
    engine.configure(database_url)


def test_the_schedule_hands_in_what_ran_out_of_time_and_nothing_else():
    over, running = invite(CHOICE), invite(CHOICE)
    for one in (over, running):
        with store.transaction() as session:
            sitting = sessions.hold(session, one.token, schemas.sessions.event)
            sessions.start(session, sitting, schemas.sessions.event)
    over.ends_in(-1)
    [kind] = [one for one in schedule.KINDS if one.name == "sessions"]
    again = schedule.turn(kind, threading.Event())
    assert over.session().completed_at == over.session().deadline_at
    assert len(over.events("assessment.completed")) == len(over.grading_asked()) == 1
    assert running.invitation().status == "started"
    assert again <= running.session().deadline_at
