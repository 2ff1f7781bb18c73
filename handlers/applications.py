"""Applications: made, decided on, and their files."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any
from urllib.parse import quote
from uuid import UUID

from sqlalchemy.orm import Session

from gateways import files, uploads
from rules import applications as rules
from rules import knockouts as knockout_rules
from rules import plans
from rules.caller import Caller
from rules.candidates import SOURCES
from rules.clock import now
from rules.errors import Invalid, NotFound
from rules.pages import Page
from schemas import applications as schemas
from schemas import emails
from schemas import offers as offer_schemas
from schemas.files import File
from store import events, outbox
from store.accounts import organisations, room
from store.applying import applications, applying, attachments, moves, screened, status_links
from store.applying import lists as application_lists
from store.applying.applications import Application, ApplicationAnswer
from store.database.engine import Reading
from store.offering import moves as offer_moves
from store.people import candidates

Body = dict[str, Any]
Begin = Callable[[], AbstractContextManager[Session]]

FILES = ("cv", "cover_letter")
ACTOR = "public_api"
# Nothing that a stranger sent is shown by a browser.
SAVED = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "private, no-store",
}


def list_applications(reading: Reading, caller: Caller, **query: Any) -> Page:
    """List applications, the highest score first unless told otherwise."""
    if query["team_id"] is not None:
        plans.require(caller.plan_name, "team_filters")
    return application_lists.LIST.page(reading, caller, **query).map(schemas.item)


def get_application(session: Session, caller: Caller, application_id: UUID) -> Body:
    """Show one application."""
    return _shown(session, applications.get(session, caller, application_id))


def create_application(begin: Begin, finish: Begin, caller: Caller, body: Body) -> tuple[Body, int]:
    """Apply for somebody; a second time answers the application that exists."""
    names = [str(body[name]) for name in ("job_id", "job_slug") if name in body]
    made, new = apply(begin, finish, caller, names, body, source=body["source"], actor=ACTOR)
    return made, 201 if new else 200


def apply(
    begin: Begin,
    finish: Begin,
    caller: Caller,
    job_names: Sequence[str],
    body: Mapping[str, Any],
    *,
    source: str,
    actor: str,
    faults: Sequence[Mapping[str, str]] = (),
    also: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[Body, bool]:
    """Make an application with its files, or refuse with every fault, those found before too; say whether it is new.

    What it keeps beside that is in `also`.

    Files are kept between two transactions, and let go again where no application came of it.
    """
    sent = {name: body[name] for name in FILES if name in body and not uploads.is_blank(body[name])}
    person = {
        "email": emails.normal_or_none(body["email"]),
        "full_name": body["full_name"].strip(),
        "phone": (body.get("phone") or "").strip(),
        "external_id": body.get("external_id"),
        "source": source,
    }
    with begin() as session:
        job = _named(applying.look(session, caller, job_names, person["email"]))
        rules.check_open(job.status, job.expires_at, now())
        again = job.before and _shown(session, applications.get(session, caller, job.before))
    wrong = {name: uploads.fault(file) for name, file in sent.items()}
    answers = rules.check(
        body.get("answers") or {},
        job.questions,
        wrong,
        cv_required=job.cv_required,
        faults=[*rules.person_faults(person), *faults],
    )
    room.check(caller, job.used or 0, sum(len(file.content) for file in sent.values()))
    if again is not None:  # only now: what is refused for others says nothing of who has applied
        if source == rules.FORM:
            with finish() as session:
                _remind(session, caller, job, person)
        return again, False
    with uploads.keeping(caller.organisation_id, sent) as kept, finish() as session:
        made, answer = _create(session, caller, job.id, person, also, answers, kept.files, actor)
        kept.needed = made is not None
    return answer, made is not None


def _named(found: Sequence[Any]) -> Any:
    """Return the job that an application names, by id, slug or both."""
    job, *others = found
    if any(other.id != job.id for other in others):
        raise Invalid.at("/job_slug", "Names another job than `job_id` does.")
    return job


def _create(
    session: Session,
    caller: Caller,
    job_id: UUID,
    person: Body,
    also: Mapping[str, Any],
    answers: list[Body],
    kept: list[Body],
    actor: str,
) -> tuple[Application | None, Body]:
    job = applying.hold(session, caller, job_id)
    rules.check_open(job.status, job.expires_at, now())
    person = {**person, **also, "candidate_id": _meet(session, caller, person)}
    known = applying.measures(session, caller, job, person)
    if known.before is not None:
        found = applications.get(session, caller, known.before)
        if person["source"] == rules.FORM:
            _remind(session, caller, job, person)
        return None, _shown(session, found)
    made = applying.new(caller, job, person)
    events.record(session, "application.submitted", made, schemas.event(made, "application.submitted"))
    history = [applications.line(made, "submitted", was=None, actor=actor)]
    links = []
    is_mailed = rules.may_mail(made.source, known.lately + 1)
    if is_mailed and known.receipt_mail:
        link, token = status_links.new(made, "receipt")
        links.append(link)
        _mail_link(session, made, "receipt", known.name, token)
    asked = {one["key"] for one in known.questions if one["is_active"]}
    knockout = knockout_rules.evaluate(known.knockouts, answers, asked)
    history += moves.knock_out(session, caller, made, knockout, schemas, is_mailed=is_mailed)
    screened.ask(session, made)
    given = [ApplicationAnswer(application_id=made.id, **one) for one in answers]
    noted = [attachments.new(caller, made.id, one) for one in kept]
    applying.make(session, caller, made, [*given, *history, *noted, *links])
    return made, schemas.detail(made, given, noted, history)


def _meet(session: Session, caller: Caller, person: Body) -> UUID:
    """Return the profile of who applies; nobody else changes what they have while it is held."""
    named = {"name": person["full_name"], "source": SOURCES[person["source"]]}
    [candidate_id] = candidates.meet_all(session, caller, [person | named]).values()
    return candidate_id


def _remind(session: Session, caller: Caller, job: Any, person: Body) -> None:
    """Mail who has an application for the job already that they do; whoever sent the form hears nothing of it."""
    _meet(session, caller, person)
    found = applications.live(session, job, person["email"], for_update=True)
    if found is None:
        return
    lately = status_links.lately(session, found)
    if rules.may_remind(lately.again, lately.again_here):
        token = status_links.make(session, found, "applied_before")
        _mail_link(session, found, "applied_before", organisations.name(session, caller), token)


def _mail_link(session: Session, application: Application, kind: str, sender: str, token: str) -> None:
    outbox.add(session, application, "mail", **schemas.status_mail(kind, application, sender, token))


def advance_application(session: Session, caller: Caller, application_id: UUID, body: Body) -> Body:
    """Advance, with an invitation to the job's assessment if it has one."""
    moves.hold_month(session, caller, application_id)
    found = applications.get(session, caller, application_id, for_update=True)
    moves.advance(session, caller, found, schemas, actor=ACTOR, send_email=body["send_email"])
    return _shown(session, found)


def reject_application(session: Session, caller: Caller, application_id: UUID, body: Body) -> Body:
    """Reject; the candidate hears of it as the job says, and offers that were not answered are withdrawn."""
    found = applications.get(session, caller, application_id, for_update=True)
    was = found.status
    moves.reject(session, caller, found, schemas, actor=ACTOR, reason=body["reason"])
    if found.status != was:
        offer_moves.withdraw_all(session, found, offer_schemas)
    return _shown(session, found)


def hold_application(session: Session, caller: Caller, application_id: UUID) -> Body:
    """Put on hold."""
    found = applications.get(session, caller, application_id, for_update=True)
    moves.hold(session, found, schemas, actor=ACTOR)
    return _shown(session, found)


def unhold_application(session: Session, caller: Caller, application_id: UUID) -> Body:
    """Take off hold."""
    found = applications.get(session, caller, application_id, for_update=True)
    moves.unhold(session, found, schemas, actor=ACTOR)
    return _shown(session, found)


def withdraw_application(session: Session, caller: Caller, application_id: UUID) -> Body:
    """Withdraw for the candidate, and offers that were not answered with it."""
    found = applications.get(session, caller, application_id, for_update=True)
    moves.withdraw(session, found, schemas, actor=ACTOR)
    offer_moves.withdraw_all(session, found, offer_schemas)
    return _shown(session, found)


def hire_application(session: Session, caller: Caller, application_id: UUID) -> Body:
    """Hire the candidate."""
    found = applications.get(session, caller, application_id, for_update=True)
    moves.hire(session, found, schemas, actor=ACTOR)
    return _shown(session, found)


def upload_attachment(
    begin: Begin, finish: Begin, caller: Caller, application_id: UUID, body: Body
) -> tuple[Body, int]:
    """Keep one more file, and have a new CV read and scored."""
    file, kind = body["file"], body["kind"]
    with begin() as session:
        found = applications.get(session, caller, application_id)
        _check_upload(session, found)
        used = room.used(session, caller)
    if fault := uploads.fault(file):
        raise Invalid.at("/file", fault)
    room.check(caller, used, len(file.content))
    with uploads.keeping(caller.organisation_id, {kind: file}) as kept, finish() as session:
        found = applications.get(session, caller, application_id, for_update=True)
        _check_upload(session, found)
        [one] = kept.files
        room.take(session, caller, one["size_bytes"])
        made = attachments.create(session, caller, found.id, one)
        found.updated_at = now()
        session.flush()
        if kind == "cv":
            screened.anew(session, found)
        answer = schemas.attachment(made)
        kept.needed = True
    return answer, 201


def _check_upload(session: Session, application: Application) -> None:
    kept = attachments.of(session, application.id)
    rules.check_upload(application.status, application.email, len(kept))


def download_attachment(begin: Begin, caller: Caller, application_id: UUID, attachment_id: UUID) -> File:
    """Hand out a file to be saved."""
    with begin() as session:
        found = attachments.get(session, caller, application_id, attachment_id)
    content = files.get(found.key)
    if content is None:
        raise NotFound("The file is not there any more.")
    plain = found.filename.encode("ascii", "ignore").decode().replace("\\", "") or found.kind
    saved = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(found.filename, safe='')}"
    return File(content, found.content_type, SAVED | {"Content-Disposition": saved})


def _shown(session: Session, application: Application) -> Body:
    """Show an application with all that belongs to it."""
    session.flush()
    return schemas.detail(
        application,
        applications.answers(session, application),
        attachments.of(session, application.id),
        applications.history(session, application),
    )
