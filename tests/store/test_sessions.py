import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal

import pytest
from sqlalchemy import select, update

import schemas.sessions
import store
from rules.errors import Invalid, NotFound
from store.assessing import answering, sessions, violations
from store.assessing.assessments import Assessment, AssessmentCase
from store.assessing.cases import Case
from store.assessing.sessions import CandidateSession
from store.database import engine
from tests.sittings import CHOICE, CODE, EVERY_KIND, NUMBER, TEXT, invite

show = schemas.sessions.event


@pytest.fixture(autouse=True)
def _store(database_url):
    engine.configure(database_url, pool_size=12)


def start(invited):
    with store.transaction() as session:
        sitting = sessions.hold(session, invited.token, show)
        sessions.start(session, sitting, show)
    return invited


def save(invited, number, answer):
    with store.writing() as means:
        place = answering.place(means, invited.token, invited.cases[number])
        answering.save(means, place, answer)
        return place.moment


def look(invited):
    with store.transaction() as session:
        return sessions.look(session, invited.token, show)


def finish_due():
    with store.transaction() as session:
        found = sessions.overdue(session, sessions.DUE.choose(session, 10))
        for one in found:
            sessions.finish(session, one, sessions.moment(session), show)
        return len(found)


def test_an_unknown_token_is_nobody():
    with store.transaction() as session:
        assert sessions.look(session, "nobody", show) is None
        with pytest.raises(NotFound):
            sessions.hold(session, "nobody", show)


def test_starting_copies_the_cases_as_they_stand():
    invited = invite(*EVERY_KIND)
    with store.transaction() as session:
        session.execute(
            update(AssessmentCase)
            .where(AssessmentCase.id == invited.cases[2])
            .values(weight=Decimal("1.5"), time_limit_minutes=4)
        )
    start(invited)
    with store.transaction() as session:
        session.execute(update(Case).values(title="changed", question="changed"))
    rows = invited.rows()
    assert [row.content["title"] for row in rows] == [case["title"] for case in EVERY_KIND]
    assert [str(row.assessment_case_id) for row in rows] == invited.cases
    assert rows[0].content["options"] == CHOICE["options"]
    assert (
        rows[2].content | {"answer_number": "1", "tolerance": "0.01", "time_limit_minutes": 4}
        == rows[2].content
    )
    assert (rows[2].weight, rows[2].max_score) == (Decimal("1.5"), Decimal(15))
    assert rows[4].content["test_cases"] == CODE["test_cases"]


def test_starting_moves_the_invitation_locks_the_cases_and_tells_once():
    invited = start(invite(CHOICE, external_id="ats-7", passing_score=55))
    start(invited)
    invitation, sitting = invited.invitation(), invited.session()
    assert (invitation.status, invitation.started_at) == ("started", sitting.started_at)
    assert sitting.deadline_at - sitting.started_at == timedelta(minutes=45)
    assert sitting.passing_score == 55
    with store.transaction() as session:
        assert session.get_one(Assessment, invitation.assessment_id).cases_locked
    [event] = invited.events()
    assert event.type == "assessment.started"
    assert event.data == {
        "session_id": str(sitting.id),
        "assessment_id": str(invitation.assessment_id),
        "assessment_slug": "backend-engineer",
        "assessment_title": "Backend engineer",
        "candidate_email": "amina@example.com",
        "candidate_name": "Amina Diallo",
        "invite_token": invited.token,
        "external_id": "ats-7",
        "started_at": event.data["started_at"],
        "completed_at": None,
    }
    assert event.data["started_at"].endswith("Z")


def test_an_event_leaves_the_external_id_out_when_there_is_none():
    [event] = start(invite(CHOICE)).events()
    assert "external_id" not in event.data


def test_two_tabs_starting_at_once_make_one_session_and_one_event():
    invited = invite(*EVERY_KIND)
    together = threading.Barrier(8)

    def begin(_):
        together.wait()
        start(invited)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(begin, range(8)))
    assert [event.type for event in invited.events()] == ["assessment.started"]
    assert len(invited.rows()) == len(EVERY_KIND)


def test_extra_time_moves_the_deadline():
    sitting = start(invite(CHOICE, time_limit_minutes=60, extra_time_percent=25)).session()
    assert sitting.deadline_at - sitting.started_at == timedelta(minutes=75)


def test_without_a_time_limit_there_is_no_deadline():
    assert start(invite(CHOICE, time_limit_minutes=None)).session().deadline_at is None


def test_a_pool_gives_each_candidate_a_draw_of_their_own_size():
    invited = start(invite(*EVERY_KIND, pool_mode=True, assignment_size=3, shuffle_strategy="balanced"))
    rows = invited.rows()
    assert [row.case_order for row in rows] == [1, 2, 3]
    assert {row.content["difficulty"] for row in rows} == {"easy", "medium", "hard"}


def test_an_expired_invitation_cannot_start():
    with pytest.raises(Invalid):
        start(invite(CHOICE, expires_in=timedelta(0)))


def test_the_time_between_saves_is_spent_on_the_case_that_was_saved():
    invited = start(invite(CHOICE, NUMBER, TEXT))

    def back(seconds):
        with store.transaction() as session:
            session.execute(
                update(CandidateSession)
                .where(CandidateSession.invitation_id == invited.invitation().id)
                .values(
                    started_at=CandidateSession.started_at - timedelta(seconds=seconds),
                    saved_at=CandidateSession.saved_at - timedelta(seconds=seconds),
                )
            )
            session.execute(
                update(sessions.SessionCase)
                .where(sessions.SessionCase.saved_at.is_not(None))
                .values(saved_at=sessions.SessionCase.saved_at - timedelta(seconds=seconds))
            )

    for number, answer, seconds in ((0, "a", 30), (1, 5, 20), (0, "b", 10)):
        back(seconds)
        save(invited, number, answer)
    spent = [row.time_spent_seconds for row in invited.rows()]
    assert spent[2] == 0
    assert 40 <= spent[0] <= 45
    assert 20 <= spent[1] <= 25
    assert invited.answers() == ["b", 5, None]


def test_a_cleared_answer_is_saved_and_is_nothing():
    invited = start(invite(TEXT))
    save(invited, 0, "something")
    moment = save(invited, 0, None)
    [row] = invited.rows()
    assert (row.answer, row.saved_at) == (None, moment)


def test_finishing_completes_once_and_asks_for_the_grades():
    invited = start(invite(CHOICE))
    with store.transaction() as session:
        sitting = sessions.hold(session, invited.token, show)
        sessions.finish(session, sitting.session, sitting.moment, show)
    done = invited.session()
    assert invited.invitation().status == "completed"
    assert invited.invitation().completed_at == done.completed_at == sitting.moment
    assert done.time_spent_seconds is not None
    assert invited.grading_asked() == [{"session_id": str(done.id)}]
    assert [event.type for event in invited.events()] == ["assessment.started", "assessment.completed"]
    assert invited.events()[1].data["completed_at"].endswith("Z")
    with store.transaction() as session:
        again = sessions.hold(session, invited.token, show)
        with pytest.raises(Invalid):
            sessions.finish(session, again.session, again.moment, show)


def test_a_session_past_its_deadline_is_finished_by_whoever_looks_first():
    invited = start(invite(CHOICE))
    invited.ends_in(-90)
    assert look(invited).status == "completed"
    done = invited.session()
    assert done.completed_at == done.deadline_at == invited.invitation().completed_at
    assert look(invited).status == "completed"
    assert len(invited.events("assessment.completed")) == 1
    assert len(invited.grading_asked()) == 1


def test_many_who_look_at_once_finish_it_once():
    invited = start(invite(CHOICE))
    invited.ends_in(-1)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: look(invited) if number % 2 else finish_due(), range(8)))
    assert len(invited.events("assessment.completed")) == 1
    assert len(invited.grading_asked()) == 1


def test_the_schedule_claims_only_sessions_whose_time_is_up():
    over, running, endless, handed_in = (
        start(invite(CHOICE, time_limit_minutes=limit)) for limit in (45, 45, None, 45)
    )
    over.ends_in(-5)
    handed_in.ends_in(-5)
    look(handed_in)
    with store.transaction() as session:
        assert sessions.DUE.next(session) <= over.session().deadline_at
    assert finish_due() >= 1
    assert over.session().completed_at == over.session().deadline_at
    assert over.invitation().status == handed_in.invitation().status == "completed"
    assert running.invitation().status == endless.invitation().status == "started"
    assert len(handed_in.events("assessment.completed")) == 1


def test_two_schedules_never_claim_the_same_session():
    started = [start(invite(CHOICE)) for _ in range(3)]
    for one in started:
        one.ends_in(-5)
    with store.transaction() as first, store.transaction() as second:
        mine = {one.id for one in sessions.DUE.choose(first, 2)}
        theirs = {one.id for one in sessions.DUE.choose(second, 10)}
    assert len(mine) == 2
    assert theirs
    assert not mine & theirs


def test_a_held_invitation_is_left_to_whoever_holds_it():
    invited = start(invite(CHOICE))
    invited.ends_in(-5)
    with store.transaction() as holder:
        holder.execute(
            select(sessions.Invitation).where(sessions.Invitation.token == invited.token).with_for_update()
        )
        finish_due()
        assert invited.invitation().status == "started"
    finish_due()
    assert invited.invitation().status == "completed"


def test_violations_are_counted_and_enough_of_them_ask_for_a_review():
    invited = start(invite(CHOICE, violation_review_threshold=2))
    for violation_type in ("fullscreen", "focus_loss"):
        assert invited.session().integrity_review_status is None
        with store.transaction() as session:
            sitting = sessions.hold(session, invited.token, show)
            violations.report(session, sitting, violation_type, 1, lambda _: {})
    assert invited.session().violation_counts == {"fullscreen": 1, "focus_loss": 1}
    assert invited.session().integrity_review_status == "needs_review"
