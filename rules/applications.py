"""How applications move, what they may hold, and when their candidates hear of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from rules import answers as typed
from rules.errors import Invalid, LimitReached
from rules.moves import Move, take
from rules.refusal import Refusal
from rules.words import say

STATUSES = ("submitted", "knockout_failed", "on_hold", "withdrawn", "advanced", "rejected", "hired")
UNDECIDED = {"submitted", "knockout_failed"}

# From on_hold goes what is allowed from the status it was held in: a hold opens no way that was closed.
MOVES = {
    "fail": Move({"submitted"}, "knockout_failed", event="application.knockout_failed"),
    "advance": Move(UNDECIDED, "advanced", event="application.advanced"),
    "reject": Move(UNDECIDED | {"advanced"}, "rejected", event="application.rejected"),
    "hold": Move(set(STATUSES) - {"on_hold"}, "on_hold", event="application.held"),
    "unhold": Move({"on_hold"}, "", event="application.unheld"),  # to wherever it was held from
    "withdraw": Move(UNDECIDED | {"advanced"}, "withdrawn", event="application.withdrawn"),
    "hire": Move({"advanced"}, "hired", event="application.hired"),
    "accept": Move(UNDECIDED | {"advanced"}, "hired", event="application.hired"),  # an offer
}

# What a second time answers as the first did, without doing it again.
REPEATED = {"reject": "rejected", "hold": "on_hold"}

FORM = "public_careers"  # the source of what anybody may send, in anybody's name
# Sources whose candidates applied themselves, and so may be told what became of it.
RECEIPTED = {FORM, "public_api"}
# Whose candidates are mailed as the job's rejection_visibility says.
TURNED_AWAY = {"rejected", "knockout_failed"}

# In so long the form brings a person mails about so many applications, and as many that they had applied before.
MOST_MAILED, MAILED_WITHIN = 10, timedelta(days=1)

MOST_FILES = 20  # of one application
MOST_CORRECTIONS = 20  # by its applicant
LONGEST_NAME = 255  # of a file
LONGEST_PERSON, LONGEST_PHONE = 200, 40

# How long after a rejection its candidate is mailed; None: never.
REJECTION_MAIL: dict[str, timedelta | None] = {
    "immediate": timedelta(0),
    "delayed": timedelta(hours=24),
    "hidden": None,
}


def move(name: str, status: str, held_from: str | None) -> Move | None:
    """Say how an application moves, or refuse; None where it is there already."""
    if REPEATED.get(name) == status:
        return None
    found = MOVES[name]
    if status == "on_hold" and held_from in found.sources:
        return found
    found = take(MOVES, name, status)
    return replace(found, target=held_from) if held_from else found


def beneath(status: str, held_from: str | None) -> str:
    """Say where an application stands but for a hold."""
    return held_from if status == "on_hold" and held_from else status


def rejection_mail_at(visibility: str, now: datetime) -> datetime | None:
    """Say when a rejected candidate is to be mailed."""
    wait = REJECTION_MAIL[visibility]
    return None if wait is None else now + wait


def seen(
    status: str,
    held_from: str | None,
    *,
    visibility: str,
    mail_at: datetime | None,
    mailed_at: datetime | None,
    withdrawn_at: datetime | None,
) -> str:
    """Say how an application stands for its applicant, who knows of no hold, and of a rejection once it was mailed."""
    under = beneath(status, held_from)
    if withdrawn_at is not None or under == "withdrawn":
        return "withdrawn"
    if under == "hired":
        return "hired"
    was_told = under == "rejected" and visibility != "hidden" and mail_at is None
    return "rejected" if under in TURNED_AWAY and (mailed_at or was_told) else "in_review"


def check_correct(seen: str, corrections: int) -> None:
    """Refuse to change what somebody sent where it is decided, or was changed often enough."""
    if seen != "in_review":
        raise Invalid(say("What you sent can be changed while it is in review."), status=seen)
    if corrections >= MOST_CORRECTIONS:
        raise LimitReached(say("An application can be corrected %(count)s times.", count=MOST_CORRECTIONS))


def check_withdraw(seen: str) -> None:
    """Refuse to withdraw what is decided."""
    if seen != "in_review":
        raise Invalid(say("An application can be withdrawn while it is in review."), status=seen)


def may_mail(source: str, applications: int) -> bool:
    """Say whether somebody is mailed of their newest application: strangers may send the form in their name."""
    return source in RECEIPTED and (source != FORM or applications <= MOST_MAILED)


def may_remind(again: int, again_here: int) -> bool:
    """Say whether somebody is mailed that they had applied before: once a day of each, and of so many in all."""
    return not again_here and again < MOST_MAILED


def check_open(status: str, expires_at: datetime | None, now: datetime) -> None:
    """Refuse an application for a job that takes none; the schedule closes what has expired a moment later."""
    if status != "open":
        raise Invalid(say("The job is not open; applications are taken for open jobs only."), status=status)
    if expires_at is not None and expires_at <= now:
        raise Invalid(say("The job has expired; applications are taken for open jobs only."), status="closed")


def person_faults(person: Mapping[str, Any]) -> list[dict[str, str]]:
    """Find what is wrong with who applies; an address that is none is None."""
    name, phone = person["full_name"], person["phone"]
    wrong = {
        "email": None if person["email"] else say("Must be an email address."),
        "full_name": _length(name, LONGEST_PERSON) if name else say("This field is required."),
        "phone": _length(phone, LONGEST_PHONE),
    }
    return [{"pointer": f"/{field}", "message": message} for field, message in wrong.items() if message]


def _length(text: str, longest: int) -> str | None:
    return say("Must have at most %(count)s characters.", count=longest) if len(text) > longest else None


def attempt(do: Callable[[], object], kinds: tuple[type[Refusal], ...] = (Invalid,)) -> Refusal | None:
    """Do something; return what is wrong with the request instead of raising it."""
    try:
        do()
    except kinds as refusal:
        return refusal
    return None


def check(
    answers: Mapping[str, Any],
    fields: Sequence[typed.Field],
    files: Mapping[str, str | None],
    *,
    cv_required: bool,
    faults: Sequence[Mapping[str, str]] = (),
) -> list[typed.Row]:
    """Return the typed answers, or refuse with every fault of answers and files, and those found before.

    `files` has what is wrong with each file that was sent: a sentence, or None.
    """
    found = [dict(fault) for fault in faults]
    found += [{"pointer": f"/{name}", "message": fault} for name, fault in files.items() if fault]
    if cv_required and "cv" not in files:
        found.append({"pointer": "/cv", "message": say("A CV is required.")})
    rows: list[typed.Row] = []
    try:
        rows = typed.check(answers, fields)
    except Invalid as refusal:
        found += refusal.details["fields"]
    if found:
        raise Invalid(fields=found)
    return rows


def check_upload(status: str, email: str, files: int) -> None:
    """Refuse one more file where there are enough, or where the candidate was erased."""
    if not email:
        raise Invalid("The candidate was erased; nothing is kept of them any more.", status=status)
    if files >= MOST_FILES:
        raise LimitReached(
            say("An application has at most %(count)s files.", count=MOST_FILES), limit=MOST_FILES, used=files
        )


def file_name(given: str, otherwise: str) -> str:
    """Return what a file is to be called: its own last name, without what no file name should hold."""
    last = given.replace("\\", "/").rpartition("/")[2]
    plain = "".join(char for char in last if char.isprintable() and char not in '"<>|:*?').strip(" .")
    stem, dot, kind = plain.rpartition(".")
    if not dot:
        return plain[:LONGEST_NAME] or otherwise
    return f"{stem[: LONGEST_NAME - 1 - len(kind)]}.{kind}"[:LONGEST_NAME] if stem else otherwise
