"""Inboxes of test mode: what was delivered there, kept instead of sent."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, delete, func, select, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules import inboxes as rules
from rules.caller import Caller
from rules.errors import Invalid, LimitReached, NotFound
from store.database.base import Base, Identified, Owned, visible
from store.delivering import webhooks
from store.delivering.webhooks import WebhookEndpoint


class Inbox(Base, Owned):
    """An address for test endpoints that leads to no machine."""

    __tablename__ = "test_inboxes"
    __table_args__ = (Index("ix_test_inboxes_owner", "organisation_id", "id"),)

    name: Mapped[str]
    answers: Mapped[list[Any]]  # status, delay_seconds, retry_after_seconds: one after the other
    received: Mapped[int] = mapped_column(default=0)


class InboxRequest(Base, Identified):
    """One request that came, with what it was answered."""

    __tablename__ = "test_inbox_requests"
    __table_args__ = (Index("ix_test_inbox_requests_inbox", "inbox_id", "id"),)

    inbox_id: Mapped[UUID] = mapped_column(ForeignKey("test_inboxes.id", ondelete="CASCADE"))
    event_id: Mapped[UUID | None]  # so that it goes with whoever is told of
    headers: Mapped[dict[str, Any]]
    body: Mapped[str]
    verified: Mapped[bool]
    status: Mapped[int]  # that it was answered with


def get(session: Session, caller: Caller, id: UUID) -> Inbox:
    """Load one, or raise NotFound."""
    found = session.scalars(visible(caller, Inbox).where(Inbox.id == id)).first()
    if found is None:
        raise NotFound("There is no such inbox.")
    return found


def require(session: Session, caller: Caller, id: UUID | None) -> None:
    """Refuse an address of an inbox that is not the caller's; in live mode there is none. None is another address."""
    mine = visible(caller, Inbox).where(Inbox.id == id)
    if id is not None and session.scalars(mine).first() is None:
        raise Invalid.at("/url", "There is no such inbox in your test mode.")


def create(session: Session, caller: Caller, *, name: str, answers: Sequence[Mapping[str, Any]]) -> Inbox:
    """Make one, or refuse: there are enough."""
    mine = visible(caller, Inbox).with_only_columns(func.count())
    if (used := session.execute(mine).scalar_one()) >= rules.MOST:
        raise LimitReached(limit=rules.MOST, used=used)
    owner = {"organisation_id": caller.organisation_id, "livemode": caller.livemode}
    inbox = Inbox(**owner, name=name, answers=[dict(one) for one in answers])
    session.add(inbox)
    session.flush()
    return inbox


def requests(session: Session, inbox: Inbox) -> list[InboxRequest]:
    """Return the newest requests that came, in their order."""
    mine = select(InboxRequest).where(InboxRequest.inbox_id == inbox.id)
    newest = session.scalars(mine.order_by(InboxRequest.id.desc()).limit(rules.MOST_SHOWN)).all()
    return list(reversed(newest))


_SURPLUS = text("""
    DELETE FROM test_inbox_requests
    WHERE inbox_id = :inbox_id AND id <= (
        SELECT id FROM test_inbox_requests WHERE inbox_id = :inbox_id ORDER BY id DESC OFFSET :most LIMIT 1
    )
""")


def receive(
    session: Session, organisation_id: UUID, id: UUID, headers: Mapping[str, str], body: bytes
) -> dict[str, Any] | None:
    """Keep a request and return what it is answered; None where an organisation has no such inbox."""
    mine = select(Inbox).where(Inbox.id == id, Inbox.organisation_id == organisation_id, ~Inbox.livemode)
    inbox = session.scalars(mine.with_for_update()).first()
    if inbox is None:
        return None
    answer = rules.answer(inbox.answers, inbox.received)
    inbox.received += 1
    event = headers.get("webhook-id", "").removeprefix("evt_")
    session.add(
        InboxRequest(
            inbox_id=id,
            event_id=UUID(event) if len(event) == 32 else None,
            headers=dict(headers),
            body=body.decode(errors="replace").replace("\x00", "\ufffd")[: rules.LONGEST_BODY],
            verified=rules.is_signed(headers, body, _secrets(session, inbox)),
            status=answer["status"],
        )
    )
    session.flush()
    session.execute(_SURPLUS, {"inbox_id": id, "most": rules.MOST_KEPT})
    return answer


def _secrets(session: Session, inbox: Inbox) -> list[str]:
    """Return the secrets of all endpoints that deliver to an inbox."""
    url = rules.address(inbox.id)
    ends = select(WebhookEndpoint).where(
        WebhookEndpoint.organisation_id == inbox.organisation_id,
        ~WebhookEndpoint.livemode,
        WebhookEndpoint.url.in_((url, f"{url}/")),
    )
    return [secret for end in session.scalars(ends) for secret in webhooks.secrets_of(end)]


def forget(session: Session, caller: Caller, events: Sequence[UUID]) -> None:
    """Let go what told of events that are erased."""
    mine = select(Inbox.id).where(Inbox.organisation_id == caller.organisation_id)
    if not caller.livemode:
        session.execute(
            delete(InboxRequest).where(InboxRequest.inbox_id.in_(mine), InboxRequest.event_id.in_(events))
        )
