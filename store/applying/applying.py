"""How an application is made: its job is kept from closing meanwhile, and all that belongs to it is one statement."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, Text, Uuid, any_, bindparam, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value

from rules import applications as rules
from rules.caller import Caller
from rules.clock import now
from rules.errors import NotFound
from store.accounts import room
from store.applying.applications import Application, ApplicationAnswer, ApplicationEvent
from store.applying.attachments import Attachment
from store.applying.screening import Screening
from store.applying.status_links import StatusLink
from store.database.base import ANYONE, Base, visible
from store.database.ids import new_id
from store.database.named import uuid
from store.database.prepared import Prepared, rows
from store.hiring import tallies
from store.hiring.jobs import Job

# What of a job its applications, their events and mails need.
_JOB = (
    Job.id, Job.slug, Job.title, Job.status, Job.team_id, Job.expires_at, Job.cv_required,
    Job.rejection_visibility, Job.rejection_text, Job.language,
)  # fmt: skip
_QUESTIONS = """
    (SELECT coalesce(jsonb_agg(to_jsonb(question) ORDER BY sort_order, id), '[]') FROM (
        SELECT id, key, label, field_type, is_required, is_active, options, sort_order
        FROM application_fields WHERE job_id = {job}
    ) AS question) AS questions
"""
_KNOCKOUTS = """
    (SELECT coalesce(jsonb_agg(to_jsonb(rule) ORDER BY sort_order, id), '[]') FROM (
        SELECT id, field_key, operator, value -> 0 AS value, on_fail, is_active, sort_order
        FROM knockout_rules WHERE job_id = {job}
    ) AS rule) AS knockouts
"""
_BEFORE = """
    (SELECT id FROM applications WHERE job_id = {job} AND email_key = :email_key AND withdrawn_at IS NULL) AS before
"""
_LOOK = Prepared(
    visible(ANYONE, Job)
    .where(
        (Job.slug == any_(bindparam("names", type_=ARRAY(Text()))))
        | (Job.id == any_(bindparam("ids", type_=ARRAY(Uuid()))))
    )
    .with_only_columns(
        *_JOB, *(text(one.format(job="jobs.id")) for one in (_QUESTIONS, _BEFORE)), text(room.USED)
    )
)
_HOLD = Prepared(
    visible(ANYONE, Job)
    .where(Job.id == bindparam("id"))
    .with_only_columns(*_JOB)
    .with_for_update(read=True, of=Job)
)
_MEASURES = Prepared(
    text(f"""
    SELECT {", ".join(one.format(job=":job_id") for one in (_QUESTIONS, _KNOCKOUTS, _BEFORE))}, name,
           coalesce(receipt_mail, false) AS receipt_mail,
           (SELECT count(*) FROM applications
            WHERE candidate_id = :candidate_id AND source = :form AND submitted_at > :since) AS lately
    FROM organisations LEFT JOIN organisation_settings ON organisation_id = organisations.id
    WHERE organisations.id = :organisation_id
    """)  # noqa: S608 - parts of our own
)


def look(session: Session, caller: Caller, names: Sequence[str], email: str | None) -> list[Any]:
    """Read the jobs of these names (slugs or ids), in their order, with their `questions` and who applied `before`.

    Beside them stands how much of the room for files is `used`. Raises NotFound.
    """
    ids = {name: uuid(name) for name in names}
    key = None if email is None else email.casefold()
    known = [one for one in ids.values() if one]
    found = _LOOK.all(session, caller, names=list(names), ids=known, email_key=key)
    by_slug, by_id = {one.slug: one for one in found}, {one.id: one for one in found}
    named = [by_slug.get(name) or by_id.get(ids[name]) for name in names]
    if None in named:
        raise NotFound("There is no such job.")
    return named


def hold(session: Session, caller: Caller, job_id: UUID) -> Any:
    """Read a job that neither closes nor changes what it asks before this transaction ends, or raise NotFound."""
    job = _HOLD.first(session, caller, id=job_id)
    if job is None:
        raise NotFound("There is no such job.")
    return job


def measures(session: Session, caller: Caller, job: Any, person: Mapping[str, Any]) -> Any:
    """Read what an application for a job that is held is measured by, and who applied `before`.

    Nobody applies under the same address meanwhile, for the person's profile is held too. `lately` counts what the
    form brought them in the last day; `name` and `receipt_mail` are the organisation's.
    """
    return _MEASURES.first(
        session,
        caller,
        job_id=job.id,
        email_key=person["email"].casefold(),
        candidate_id=person["candidate_id"],
        form=rules.FORM,
        since=now() - rules.MAILED_WITHIN,
    )


def new(caller: Caller, job: Any, person: Mapping[str, Any]) -> Application:
    """Return an application that is kept nowhere yet."""
    moment = now()
    made = Application(
        id=new_id(),
        created_at=moment,
        updated_at=moment,
        submitted_at=moment,
        organisation_id=caller.organisation_id,
        livemode=caller.livemode,
        job_id=job.id,
        email_key=person["email"].casefold(),
        **person,
    )
    screening = Screening(application_id=made.id)
    for one in (made, screening):
        _complete(one)
    set_committed_value(made, "job", job)
    set_committed_value(made, "screening", screening)
    return made


_OF_ANSWERS = (ApplicationAnswer, ApplicationEvent, Attachment, StatusLink)


def _complete(one: Base) -> Base:
    """Give a row that SQLAlchemy does not write the defaults that it would have given it."""
    for column in one.__table__.columns:
        if column.default is not None and getattr(one, column.key) is None:
            given = column.default.arg  # ours are values and functions
            setattr(one, column.key, given(None) if callable(given) else given)
    return one


def _written(model: type[Base]) -> list[Any]:
    return [column for column in model.__table__.columns if column.computed is None]


def _insert(model: type[Base]) -> str:
    """Write what puts rows of a table in that are sent as JSON."""
    columns = _written(model)
    names = ", ".join(column.key for column in columns)
    typed = ", ".join(f"{one.key} {one.type.compile(dialect=postgresql.dialect())}" for one in columns)
    typed = typed.replace("TIMESTAMP WITH TIME ZONE", "timestamptz")
    table = model.__table__.name  # type: ignore[attr-defined]  # a table has one
    return f"""
        INSERT INTO {table} ({names})
        SELECT * FROM jsonb_to_recordset(CAST(:{table} AS jsonb)) AS one ({typed})
    """  # noqa: S608 - names of tables


_MODELS = (Application, Screening, *_OF_ANSWERS)
_NEW = ", ".join(f"new_{model.__tablename__} AS ({_insert(model)})" for model in _MODELS)
_WHOLE = f"WITH {_NEW}, {tallies.COUNT}, kept AS ({room.TAKE}) SELECT bytes FROM kept"  # noqa: S608 - parts of our own
# psycopg looks anew for the parameters of what is longer than 4,096 characters, each time.
_MAKE = Prepared(text(" ".join(_WHOLE.split())))


def make(session: Session, caller: Caller, made: Application, belongings: Sequence[Base]) -> None:
    """Keep an application with what belongs to it, and count it and its files, or refuse.

    Raises LimitReached where there is no room for the files.
    """
    written: dict[str, list[dict[str, Any]]] = {model.__tablename__: [] for model in _MODELS}
    for one in (made, made.screening, *belongings):
        table = one.__table__.name  # type: ignore[attr-defined]  # a table has one
        written[table].append(
            {column.key: getattr(one, column.key) for column in _written(type(_complete(one)))}
        )
    size = sum(one.size_bytes for one in belongings if isinstance(one, Attachment))
    kept = _MAKE.first(
        session,
        caller,
        **{table: rows(some) for table, some in written.items()},
        job_id=made.job_id,
        tally=new_id(),
        moment=made.created_at,
        **room.terms(size),
    )
    room.taken(caller, kept, size)
