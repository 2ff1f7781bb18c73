"""Applications as whoever sent them sees them: how one stands, corrected, withdrawn, and asked to be erased."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from sqlalchemy.orm import Session

from gateways import uploads
from handlers import pages
from handlers.applications import FILES
from rules import applications as rules
from rules import links
from rules.clock import now
from schemas import applicants as schemas
from schemas import applications as application_schemas
from schemas import candidates as candidate_schemas
from schemas import offers as offer_schemas
from schemas.views import Redirect, View
from store import events
from store.accounts import organisations, room
from store.applying import applications, attachments, moves, screened, status_links
from store.applying.applications import Application
from store.hiring import fields
from store.offering import moves as offer_moves
from store.people import candidates, notes

Body = dict[str, Any]
Begin = Callable[[], AbstractContextManager[Session]]

ACTOR = "candidate"
PERSON: tuple[str, ...] = ("full_name", "phone")  # what of them may be corrected
ERASURE = "The person asked on the page of their application that what is held on them be erased."


def get_own_application(session: Session, token: str) -> Body:
    """Show an application to whoever sent it."""
    return _shown(session, status_links.find(session, token))


def correct_own_application(begin: Begin, finish: Begin, token: str, body: Body) -> Body:
    """Change what was sent, or refuse with every fault; files are kept between the two transactions."""
    sent = {name: body[name] for name in FILES if name in body and not uploads.is_blank(body[name])}
    with begin() as session:
        found = status_links.find(session, token)
        caller = organisations.caller_of(session, found)
        _check(session, found, body, {name: uploads.fault(one) for name, one in sent.items()})
        used = room.used(session, caller) if sent else 0
    room.check(caller, used, sum(len(one.content) for one in sent.values()))
    with uploads.keeping(caller.organisation_id, sent) as kept, finish() as session:
        found = status_links.find(session, token, for_update=True)
        answers, asked = _check(session, found, body, dict.fromkeys(sent))
        room.take(session, caller, sum(one["size_bytes"] for one in kept.files))
        changed = _change(session, found, body, answers, asked)
        for one in kept.files:
            attachments.create(session, caller, found.id, one)
        changed += list(sent)
        if changed:
            found.updated_at = now()
            session.flush()
            applications.happened(session, found, "corrected", was=found.status, actor=ACTOR, fields=changed)
        if any(name == "cv" or name.startswith("answers.") for name in changed):
            screened.anew(session, found)
        shown = _shown(session, found)
        kept.needed = True
    return shown


def _check(
    session: Session, application: Application, body: Body, sent: Mapping[str, str | None]
) -> tuple[list[Body] | None, list[str]]:
    """Return all answers as they are to be, None where they stay, and the questions; or refuse with every fault."""
    corrections = applications.count_of(session, application, "corrected")
    rules.check_correct(_seen(application), corrections)
    if sent:
        there = len(attachments.of(session, application.id)) + len(sent) - 1
        rules.check_upload(application.status, application.email, there)
    questions = [one.as_rules_see_it() for one in fields.all_of(session, application.job)]
    asked = [one["key"] for one in questions if one["is_active"]]
    person = {
        "email": application.email,
        "full_name": body.get("full_name", application.full_name).strip(),
        "phone": body.get("phone", application.phone).strip(),
    }
    given = _given(session, application)
    wanted = {key: given[key] for key in asked if key in given} | body.get("answers", {})
    rows = rules.check(
        wanted if "answers" in body else {},
        questions if "answers" in body else [],
        sent,
        cv_required=False,
        faults=rules.person_faults(person),
    )
    return (rows if "answers" in body else None), asked


def _change(
    session: Session, application: Application, body: Body, answers: Sequence[Body] | None, asked: list[str]
) -> list[str]:
    """Change an application, and return what of it is another now."""
    given = {name: body[name].strip() for name in PERSON if name in body}
    person = {name: value for name, value in given.items() if value != getattr(application, name)}
    application.change(person)
    changed = list(person)
    if answers is not None:
        before = _given(session, application)
        applications.replace_answers(session, application, asked, answers)
        after = _given(session, application)
        changed += [f"answers.{key}" for key in asked if before.get(key) != after.get(key)]
    return changed


def withdraw_own_application(session: Session, token: str) -> Body:
    """Withdraw, and offers that were not answered with it; again changes nothing."""
    found = status_links.find(session, token, for_update=True)
    seen = _seen(found)
    if seen == "withdrawn":
        return _shown(session, found)
    rules.check_withdraw(seen)
    if rules.beneath(found.status, found.held_from) == "rejected":
        moves.withdraw_unaware(session, found, actor=ACTOR)
    else:
        moves.withdraw(session, found, application_schemas, actor=ACTOR)
        offer_moves.withdraw_all(session, found, offer_schemas)
    return _shown(session, found)


def request_erasure(session: Session, token: str) -> Body:
    """Leave word with the organisation that somebody asks to be erased; again changes nothing."""
    found = status_links.find(session, token)
    caller = organisations.caller_of(session, found)
    person = candidates.write_on(session, caller, found.candidate_id)
    found = applications.get(session, caller, found.id, for_update=True)
    if applications.first_of(session, found, "erasure_requested") is None:
        applications.happened(session, found, "erasure_requested", was=found.status, actor=ACTOR)
        found.updated_at = now()
        made = notes.create(session, person, ERASURE, ACTOR)
        told = candidate_schemas.event(person) | {"note": candidate_schemas.note_event(made)}
        events.record(session, "candidate.note_added", person, told)
    return _shown(session, found)


def show_application_page(session: Session, token: str, step: str | None, done: str | None) -> View:
    """Show somebody their application: how it stands, what they sent, and what they may do."""
    return _application_page(session, token, step=step, done=done)


def change_on_application_page(begin: Begin, finish: Begin, token: str, body: Body) -> View | Redirect:
    """Do what the page's form asks for; lead to the page as it is then, or show what is wrong."""
    step = body["step"]
    refusal = rules.attempt(lambda: _change_application(begin, finish, token, body))
    if refusal is None:
        return Redirect(f"{links.path(links.application(token))}?done={step}", pages.HEADERS)
    with begin() as session:
        faults = pages.faults(refusal)
        return _application_page(
            session, token, step=step if faults else None, status=400, given=body, faults=faults,
            refused=not faults,
        )  # fmt: skip


def _change_application(begin: Begin, finish: Begin, token: str, body: Body) -> None:
    if body["step"] == "correct":
        with begin() as session:
            asked = [one["key"] for one in get_own_application(session, token)["application_fields"]]
        given = body.get("answers", {})
        sent = {name: body[name] for name in ("full_name", "phone", "cv", "cover_letter") if name in body}
        # What a form leaves out is empty: a box that is not ticked.
        answers = {"answers": {key: given.get(key, "") for key in asked}} if asked else {}
        correct_own_application(begin, finish, token, sent | answers)
        return
    does = {"withdraw": withdraw_own_application, "erase": request_erasure}
    with finish() as session:
        does[body["step"]](session, token)


def _application_page(
    session: Session, token: str, *, step: str | None, status: int = 200, **values: Any
) -> View:
    own = get_own_application(session, token)
    written = {True: "true", False: "false"}
    answers = {key: written[one] if isinstance(one, bool) else one for key, one in own["answers"].items()}
    there = {"given": {**own, "answers": answers}, "faults": {}, "done": None, "refused": False}
    is_open = own["status"] == "in_review" or step == "erase"
    found = status_links.find(session, token)
    return pages.page(
        "application.html",
        brand=pages.brand(session, found.organisation_id),
        wanted=(found.job.language,),
        status=status,
        own=own,
        step=step if is_open else None,
        **(there | values),
    )


def _seen(application: Application) -> str:
    return rules.seen(
        application.status,
        application.held_from,
        visibility=application.job.rejection_visibility,
        mail_at=application.rejection_mail_at,
        mailed_at=application.rejection_mailed_at,
        withdrawn_at=application.withdrawn_at,
    )


def _given(session: Session, application: Application) -> Body:
    """Return what was answered, by question."""
    rows = [one.as_rules_see_it() for one in applications.answers(session, application)]
    return {row["field_key"]: schemas.answer(row) for row in rows}


def _shown(session: Session, application: Application) -> Body:
    session.flush()
    asked_for = applications.first_of(session, application, "erasure_requested")
    return schemas.own(
        application,
        _seen(application),
        organisation_name=organisations.name(session, organisations.caller_of(session, application)),
        questions=fields.all_of(session, application.job),
        given=_given(session, application),
        files=attachments.of(session, application.id),
        erasure_requested_at=asked_for.created_at if asked_for else None,
    )
