"""FastAPI with SQLAlchemy's ORM, synchronous: what most people build."""

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated

import orjson
import redis
import work
from fastapi import Depends, FastAPI, Header, Query, Request, Response
from models import ApiKey, Assessment, Event, EventSequence, Invitation, Usage
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import create_engine, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session, joinedload

engine = create_engine(
    work.DATABASE_URL.replace("postgresql://", "postgresql+psycopg://", 1), pool_size=16, max_overflow=24
)
count = redis.Redis.from_url(work.REDIS_URL).register_script(work.LUA)
app = FastAPI(openapi_url=None)


class InvitationCreate(BaseModel):
    model_config = ConfigDict(extra="forbid")
    email: str = Field(max_length=254)
    name: str = Field("", max_length=200)
    role: str = Field("", max_length=200)
    external_id: str | None = Field(None, min_length=1, max_length=255)
    expires_days: int = Field(7, ge=1, le=365)
    send_email: bool = False
    extra_time_percent: int = Field(0, ge=0, le=100)
    tags: list[Annotated[str, Field(min_length=1, max_length=64)]] = Field([], max_length=20)


def opened() -> Iterator[Session]:
    with Session(engine, expire_on_commit=False) as session:
        yield session


Opened = Annotated[Session, Depends(opened)]


class Admitted:
    """A dependency: who asks, and where the limit stands."""

    def __init__(self, scope: str, *, reads: bool = True) -> None:
        self.scope, self.reads = scope, reads

    def __call__(self, session: Opened, authorization: Annotated[str | None, Header()] = None):
        key = work.bearer(authorization)
        row = work.known(key)
        if row is None:
            row = work.keep(key, session.scalar(select(ApiKey).where(ApiKey.hash == work.digest(key))))
        work.check(row, self.scope)
        keys, arguments = work.limit_arguments(row, reads=self.reads)
        return row, work.limit_headers(count(keys=keys, args=arguments))


def answer(body: dict, headers: dict, status: int = 200) -> Response:
    headers = {**headers, "X-Request-Id": work.request_id()}
    return Response(orjson.dumps(body), status, headers, media_type="application/json")


@app.exception_handler(work.Refused)
def refuse(_request: Request, refused: work.Refused) -> Response:
    request_id = work.request_id()
    return Response(
        refused.body(request_id), refused.status, {"X-Request-Id": request_id}, "application/json"
    )


def used(session: Session, caller) -> int:
    row = session.get(Usage, (caller.organisation_id, work.month()))
    return row.used if row else 0


def find(session: Session, caller, slug: str) -> Assessment:
    row = session.scalar(
        select(Assessment).where(
            Assessment.organisation_id == caller.organisation_id,
            Assessment.livemode == caller.livemode,
            Assessment.slug == slug,
        )
    )
    if row is None:
        raise work.Refused(404, "NOT_FOUND", "There is no such assessment.")
    return row


@app.get(work.PREFIX + "/assessments/{slug}/")
def get_assessment(
    slug: str, session: Opened, admitted: Annotated[tuple, Depends(Admitted("assessments:read"))]
):
    caller, headers = admitted
    return answer(work.assessment(find(session, caller, slug), used(session, caller)), headers)


@app.get(work.PREFIX + "/invites/")
def list_invitations(
    session: Opened,
    admitted: Annotated[tuple, Depends(Admitted("invitations:read"))],
    page_size: Annotated[int, Query(ge=1, le=100)] = 20,
):
    caller, headers = admitted
    found = session.scalars(
        select(Invitation)
        .where(Invitation.organisation_id == caller.organisation_id, Invitation.livemode == caller.livemode)
        .options(joinedload(Invitation.assessment))
        .order_by(Invitation.id.desc())
        .limit(page_size + 1)
    ).all()
    rows = found[:page_size]
    shown = [work.invitation(row, row.assessment.slug, row.assessment.title) for row in rows]
    more = len(found) > page_size
    return answer(
        work.page(shown, rows[-1].id, more=more, size=page_size, used=used(session, caller)), headers
    )


@app.post(work.PREFIX + "/assessments/{slug}/invites/")
def create_invitation(
    slug: str,
    body: InvitationCreate,
    session: Opened,
    admitted: Annotated[tuple, Depends(Admitted("invitations:write", reads=False))],
):
    caller, headers = admitted
    assessment = find(session, caller, slug)
    if assessment.status != "active":
        raise work.Refused(403, "ASSESSMENT_NOT_ACTIVE", "The assessment is not active.")
    row, moment = work.candidate(body.model_dump()), datetime.now(UTC)
    same = Invitation.email_key == row["email_key"]
    if row["external_id"] is not None:
        same |= Invitation.external_id == row["external_id"]
    found = session.scalar(select(Invitation).where(Invitation.assessment_id == assessment.id, same))
    if found:
        return answer(work.created(found, "An invitation already exists for this candidate."), headers)
    owner = {"organisation_id": caller.organisation_id, "livemode": caller.livemode}
    quota = insert(Usage).values(organisation_id=caller.organisation_id, month=work.month(), used=1)
    session.execute(
        quota.on_conflict_do_update(
            index_elements=[Usage.organisation_id, Usage.month], set_={"used": Usage.used + 1}
        )
    )
    made = Invitation(
        created_at=moment, updated_at=moment, assessment_id=assessment.id, status="pending", **owner, **row
    )
    session.add(made)
    session.flush()
    session.execute(
        update(Assessment)
        .where(Assessment.id == assessment.id)
        .values(invitation_count=Assessment.invitation_count + 1)
        .execution_options(synchronize_session=False)
    )
    number = insert(EventSequence).values(last=1, **owner)
    sequence = session.scalar(
        number.on_conflict_do_update(
            index_elements=[EventSequence.organisation_id, EventSequence.livemode],
            set_={"last": EventSequence.last + 1},
        ).returning(EventSequence.last)
    )
    data = work.event_data(made, assessment.slug, assessment.title)
    session.add(
        Event(
            id=uuid.uuid4(),
            created_at=moment,
            sequence=sequence,
            type="invitation.created",
            data=data,
            **owner,
        )
    )
    session.flush()
    session.execute(text("NOTIFY outbox"))
    session.commit()
    return answer(work.created(made, "Invitation created."), headers, 201)
