"""`hiring doctor`: what is wrong with an instance, in words, and what helps."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

import store
from app.instance import places, wiring
from app.instance.settings import Settings
from gateways import languages, mail, sandbox
from gateways.cv import walled
from gateways.letters import printing
from rules.clock import now
from store.accounts import room
from store.operating import health, reencryption
from workers import schedule

FINE, WORTH_KNOWING, WRONG = "ok", "warning", "wrong"

RELAY_SECONDS = 30.0
DELIVERY_SECONDS = 180.0
WORK_SECONDS = 300.0
SCHEDULE_SECONDS = 60.0
CLOCK_SECONDS = 5.0
FULL = 0.8  # of a volume, or of an organisation's room for files
SHOWN = 10  # endpoints named one by one


@dataclass(frozen=True)
class Finding:
    """What one look found."""

    subject: str
    level: str
    text: str


Findings = Iterator[Finding]


def examine(settings: Settings) -> list[Finding]:
    """Look at everything; what needs the database is left out while it cannot answer."""
    wiring.configure(settings, pool_size=2)
    found = list(_servers())
    if all(one.level != WRONG for one in found if one.subject in ("database", "schema")):
        for look in LOOKS:
            try:
                found += look(settings)
            except SQLAlchemyError as fault:
                found.append(Finding("database", WRONG, f"A look at it failed: {_first_line(fault)}"))
    found += _forgotten()
    found += _mail_server(settings)
    found += _sandbox()
    found += _web(settings)
    return found


def sick(findings: list[Finding]) -> bool:
    """Say whether anything is wrong, as opposed to worth knowing."""
    return any(one.level == WRONG for one in findings)


def _servers() -> Findings:
    checks = health.checks()
    database, schema, bell = checks["database"], checks["migrations"], checks["redis"]
    if database != health.OK:
        yield Finding(
            "database", WRONG, "PostgreSQL does not answer. Is DATABASE_URL right, and does it run?"
        )
    else:
        yield Finding("database", FINE, "PostgreSQL answers.")
        good = schema == health.OK
        words = f"It is up to date ({health.newest()})." if good else f"{schema}: run `hiring migrate`."
        yield Finding("schema", FINE if good else WRONG, words[0].upper() + words[1:])
    if bell != health.OK:
        yield Finding(
            "redis", WRONG, "Redis does not answer: each web process counts limits by itself,"
            " and work waits for the next look. Is REDIS_URL right, and does it run?"
        )  # fmt: skip
    else:
        yield Finding("redis", FINE, "Redis answers.")


def _clock(_: Settings) -> Findings:
    with store.transaction() as session:
        there = session.execute(text("SELECT clock_timestamp()")).scalar_one()
    apart = abs((now() - there).total_seconds())
    if apart > CLOCK_SECONDS:
        yield Finding(
            "clock", WRONG, f"This machine and the database's are {apart:.0f} s apart. Set the clock."
        )


def _waiting(_: Settings) -> Findings:
    with store.transaction() as session:
        found, lags = health.figures(session), schedule.lags(session)
    if found.oldest_event_seconds > RELAY_SECONDS:
        yield Finding(
            "relay", WRONG, f"{found.events_waiting} events wait, the oldest for {_span(found.oldest_event_seconds)}."
            " Does a worker run (`hiring work`)? Its log says what stops it."
        )  # fmt: skip
    else:
        yield Finding("relay", FINE, "No event waits.")
    late = found.oldest_delivery_seconds > DELIVERY_SECONDS
    words = f"{found.deliveries_pending} deliveries are pending"
    if late:
        words += f", the first is {_span(found.oldest_delivery_seconds)} late. Run another worker, or look at its log"
    yield Finding("deliveries", WRONG if late else FINE, f"{words}.")
    yield from _work(found)
    behind = {kind: lag for kind, lag in lags.items() if lag > SCHEDULE_SECONDS}
    if behind:
        words = ", ".join(f"{kind} by {_span(lag)}" for kind, lag in behind.items())
        yield Finding("schedule", WRONG, f"It is behind: {words}. Does a schedule run (`hiring schedule`)?")
    else:
        yield Finding("schedule", FINE, "Nothing is overdue.")


def _work(found: health.Figures) -> Findings:
    for one in found.work:
        subject = "mail" if one.job == "mail" else f"job {one.job}"
        if one.failing:
            yield Finding(
                subject, WRONG, f"{one.failing} of {one.waiting} waiting were tried and failed, the oldest"
                f" {_span(one.oldest_seconds)} ago: {one.last_error}"
            )  # fmt: skip
        elif one.overdue_seconds > WORK_SECONDS:
            yield Finding(
                subject, WRONG, f"{one.waiting} wait, the first is {_span(one.overdue_seconds)} late."
                " Does a worker run (`hiring work`)?"
            )  # fmt: skip
    with store.transaction() as session:
        for job, count, error in health.given_up(session):
            yield Finding(
                f"job {job}", WRONG, f"{count} were given up in the last day; the newest said: {error}"
            )


def _set_aside(_: Settings) -> Findings:
    with store.transaction() as session:
        found = health.set_aside(session)
    for kind, count, tries, reason in found:
        yield Finding(
            "set aside", WRONG, f"{kind}: {count} failed, were tried {tries} times at most and stand aside while their"
            f" neighbours go on; the newest: {reason} When that is mended, `hiring aside back '{kind}'`."
        )  # fmt: skip


def _endpoints(_: Settings) -> Findings:
    with store.transaction() as session:
        disabled = health.disabled_endpoints(session, limit=SHOWN + 1)
        unreadable = reencryption.unreadable(session)
    for slug, url, reason, pending in disabled[:SHOWN]:
        yield Finding(
            "endpoint", WORTH_KNOWING, f"{slug}: {url} is switched off ({reason}) {pending} deliveries wait."
            " A successful test ping (POST /webhooks/{id}/test/) switches it on."
        )  # fmt: skip
    if len(disabled) > SHOWN:
        yield Finding("endpoint", WORTH_KNOWING, "There are more endpoints that are switched off.")
    if unreadable:
        yield Finding(
            "secrets", WRONG, f"The secrets of {unreadable} endpoints cannot be read: SECRET_KEY has changed. Give the"
            " old key too, after the new one and a comma, and run `hiring secrets reencrypt`."
        )  # fmt: skip
    if not disabled and not unreadable:
        yield Finding("endpoints", FINE, "None is switched off, and every secret can be read.")


def _room(settings: Settings) -> Findings:
    with store.transaction() as session:
        for slug, used in room.nearly_full(session, share=FULL, limit=SHOWN):
            yield Finding(
                "files", WORTH_KNOWING, f"{slug} has used {used:.0%} of its room for files (FILES_MOST_MB)."
            )  # fmt: skip
    folders = {"MAIL_DIR": settings.mail_dir} | (
        {} if settings.files_s3_bucket else {"FILES_DIR": settings.files_dir}
    )
    for name, folder in folders.items():
        there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
        volume = shutil.disk_usage(there)
        if volume.used >= FULL * (volume.used + volume.free):
            share = volume.used / (volume.used + volume.free)
            yield Finding("disk", WORTH_KNOWING, f"The volume of {name} ({folder}) is {share:.0%} full.")


def _forgotten() -> Findings:
    for folder in places.forgotten()[:SHOWN]:
        size = _bytes(folder) / 1e9
        yield Finding(
            "folder", WORTH_KNOWING,
            f"{folder} keeps {size:.1f} GB of servers whose data folder is gone. Remove it if nobody misses that.",
        )  # fmt: skip


def _bytes(folder: Path) -> int:
    """Add up what a folder holds; what vanishes meanwhile, or may not be read, counts nothing."""
    found = 0
    with suppress(OSError):
        for one in folder.rglob("*"):
            with suppress(OSError):
                found += one.lstat().st_size
    return found


LOOKS: tuple[Callable[[Settings], Findings], ...] = (_clock, _waiting, _set_aside, _endpoints, _room)


def _mail_server(settings: Settings) -> Findings:
    if not settings.smtp_url:
        yield Finding(
            "mail", WORTH_KNOWING, f"SMTP_URL is not set: mail is written to {settings.mail_dir} as .eml."
        )
        return
    parts = urlsplit(settings.smtp_url)
    where = f"{parts.hostname}:{parts.port or (465 if parts.scheme == 'smtps' else 587)}"
    try:
        mail.greet()
    except OSError as fault:
        yield Finding("mail", WRONG, f"The mail server {where} refuses: {_first_line(fault)}")
    else:
        yield Finding("mail", FINE, f"The mail server {where} answers.")


def _sandbox() -> Findings:
    reasons = {language: sandbox.why_not(language) for language in languages.LANGUAGES}
    for language, reason in reasons.items():
        if reason:
            yield Finding(
                "sandbox", WORTH_KNOWING, f"{language} cannot run on this machine: {reason}. Answers in it wait for"
                " review by a person, unless a worker elsewhere can run it."
            )  # fmt: skip
    if runs := [language for language, reason in reasons.items() if not reason]:
        yield Finding("sandbox", FINE, f"It runs {', '.join(runs)}.")
    if reason := walled.why_not():
        yield Finding(
            "cvs", WORTH_KNOWING, f"CVs are read within limits but without the sandbox's walls: {reason}. A file made"
            " to take the reader over would find the network and this user's files."
        )  # fmt: skip
    else:
        yield Finding("cvs", FINE, "They are read behind the sandbox's walls.")
    if reason := printing.why_not():
        yield Finding(
            "letters", WORTH_KNOWING, f"Letters are printed within limits but without the sandbox's walls: {reason}."
        )  # fmt: skip
    else:
        yield Finding("letters", FINE, "They are printed behind the sandbox's walls.")
    if reason := sandbox.why_no_groups():
        yield Finding(
            "sandbox", WORTH_KNOWING, "No control group counts the memory of programs; each is watched instead, which"
            f" does not see what sockets hold: {reason}."
        )  # fmt: skip


def _web(settings: Settings) -> Findings:
    try:
        answer = httpx.get(f"{settings.base_url}/readyz", timeout=5, trust_env=False)
    except httpx.HTTPError as fault:
        yield Finding(
            "web", WORTH_KNOWING, f"{settings.base_url} does not answer from here: {_first_line(fault)}"
        )
        return
    if answer.status_code == 200:
        yield Finding("web", FINE, f"{settings.base_url} is ready.")
    else:
        yield Finding("web", WRONG, f"{settings.base_url}/readyz answers {answer.status_code}.")


def _span(seconds: float) -> str:
    """Write a length of time roughly: 45 s, 12 min, 3 h, 2 days."""
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def _first_line(fault: Exception) -> str:
    return (str(fault).strip() or type(fault).__name__).splitlines()[0]
