"""What is shown of rooms: many in a list, and all that is in one."""

from collections.abc import Sequence

from sqlalchemy import Text, bindparam, func, literal_column, select
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Session

from rules.interviews import MOST_SHOWN
from store.accounts.members import Member
from store.assessing.assessments import Assessment
from store.assessing.sessions import CandidateSession
from store.database import listing
from store.database.base import ANYONE, visible
from store.interviewing.rooms import Interview, Interviewer, InterviewEvent, InterviewQuestion

_LONG = {
    "job_description",
    "resume_text",
    "whiteboard_snapshot",
    "session_metadata",
    "integrity_config",
    "analysis",
}
_PARTS = literal_column(
    "parts(searched(interviews.title, interviews.candidate_name, ARRAY[interviews.candidate_email]), 1)",
    ARRAY(Text()),
)
_WORDS = literal_column(
    "searched(interviews.title, interviews.candidate_name, ARRAY[interviews.candidate_email])", Text()
)
_WANTED = func.lower(bindparam("q", type_=Text()))
# What an index finds, of which the words decide.
_FOUND = _PARTS.contains(func.parts(_WANTED, func.least(func.length(_WANTED), 3), type_=ARRAY(Text())))
_MEANT = func.strpos(_WORDS, _WANTED) > 0
NEAR = 2_000  # as in a search over candidates
LIST = listing.Listing(
    visible(ANYONE, Interview).with_only_columns(
        *(column for column in Interview.__table__.columns if column.key not in _LONG)
    ),
    {"-id": (Interview.id,)},
    {
        "status": listing.equals(Interview.status),
        "interview_type": listing.equals(Interview.interview_type),
        "interviewer_mode": listing.equals(Interview.interviewer_mode),
        "q": listing.Filter(_MEANT, near=NEAR, found=_FOUND, instead={"": None}, skewed=True),
        "updated_after": listing.updated_after(Interview),
    },
    {
        "linked": (
            lambda page: (
                (CandidateSession.id == page.c.candidate_session_id)
                & (Assessment.id == CandidateSession.assessment_id)
            ),
            (Assessment.slug, Assessment.title),
        )
    },
)


def questions(session: Session, interview: Interview) -> Sequence[InterviewQuestion]:
    """Load a room's questions, in order."""
    mine = select(InterviewQuestion).where(InterviewQuestion.interview_id == interview.id)
    return session.scalars(mine.order_by(InterviewQuestion.position)).all()


def messages(session: Session, interview: Interview) -> list[InterviewEvent]:
    """Load the last messages of a room, in order."""
    mine = select(InterviewEvent).where(
        InterviewEvent.interview_id == interview.id, InterviewEvent.kind == "message"
    )
    last = session.scalars(mine.order_by(InterviewEvent.number.desc()).limit(MOST_SHOWN))
    return list(last)[::-1]


def happened(session: Session, interview: Interview) -> Sequence[InterviewEvent]:
    """Load all that happened in a room, in order."""
    mine = select(InterviewEvent).where(InterviewEvent.interview_id == interview.id)
    return session.scalars(mine.order_by(InterviewEvent.number)).all()


def linked(session: Session, interview: Interview) -> Assessment | None:
    """Load the assessment that the linked session is of."""
    if interview.candidate_session_id is None:
        return None
    of = select(Assessment).join(CandidateSession, CandidateSession.assessment_id == Assessment.id)
    return session.scalars(of.where(CandidateSession.id == interview.candidate_session_id)).first()


def interviewers(session: Session, interview: Interview) -> Sequence[Member]:
    """Load the members who interview in a room, by name."""
    of = select(Member).join(Interviewer, Interviewer.user_id == Member.user_id)
    return session.scalars(
        of.where(Interviewer.interview_id == interview.id).order_by(Member.name, Member.id)
    ).all()
