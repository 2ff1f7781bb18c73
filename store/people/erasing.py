"""What told of a person is taken out everywhere; what remains counts and names nobody.

What an index finds goes in one transaction; files, mails that were written to the mail folder, and answers that were
kept encrypted for an Idempotency-Key go after it, as outbox work.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import text
from sqlalchemy.orm import Session

from rules.caller import Caller
from rules.clock import now
from rules.tokens import new_token
from store import outbox
from store.accounts import room
from store.database import secrets
from store.database.ids import new_id
from store.database.prepared import Prepared
from store.delivering import inboxes
from store.people import candidates

# A mail that somebody has in hand while the rows go is written after them: nobody has one for longer.
AGAIN_AFTER = timedelta(minutes=5)

# The person's rows, locked in the order of store.database.locks. An invitation may be made meanwhile by whoever holds
# the application or enrollment that it comes of: so it is looked for after these.
HELD = {
    "applications": "SELECT id, email FROM applications WHERE candidate_id = ANY (:people) ORDER BY id FOR UPDATE",
    "offers": "SELECT id, '' AS email FROM offers WHERE application_id = ANY (:applications) ORDER BY id FOR UPDATE",
    "enrollments": "SELECT id, email FROM enrollments WHERE candidate_id = ANY (:people) ORDER BY id FOR UPDATE",
    "invitations": "SELECT id, email FROM invitations WHERE candidate_id = ANY (:people) ORDER BY id FOR UPDATE",
    "sessions": """
        SELECT id, '' AS email FROM sessions WHERE invitation_id = ANY (:invitations) ORDER BY id FOR UPDATE
    """,
    "interviews": """
        SELECT id, candidate_email AS email FROM interviews WHERE candidate_id = ANY (:people) ORDER BY id FOR UPDATE
    """,
}
_HELD = {name: Prepared(text(statement)) for name, statement in HELD.items()}

# An address that nobody has, and that is nobody else's: where addresses are there once, each row needs its own.
NOBODY = "'erased:' || id"
ROWS = (
    f"""
    UPDATE applications SET email = '', email_key = {NOBODY}, full_name = '', phone = '', external_id = NULL,
        source_detail = NULL, reject_reason = '', rejection_mail_at = NULL, updated_at = :moment,
        held_from = NULL,
        withdrawn_at = CASE WHEN status IN ('rejected', 'hired') THEN withdrawn_at
                            ELSE coalesce(withdrawn_at, :moment) END,
        status = CASE WHEN status IN ('rejected', 'hired') THEN status ELSE 'withdrawn' END
    WHERE id = ANY (:applications)
    """,  # noqa: S608 - names of our own
    """
    UPDATE application_answers SET value_text = '', value_number = NULL, value_boolean = NULL, value_json = NULL
    WHERE application_id = ANY (:applications)
    """,
    "UPDATE application_events SET details = '{}' WHERE application_id = ANY (:applications)",
    """
    UPDATE screenings SET profile = NULL, knockout = NULL, evidence = '[]', ai_brief = '', ai_red_flags = '{}',
        ai_rationale = '', brief_error = '', parse_error = '',
        status = CASE status WHEN 'pending' THEN 'failed' ELSE status END
    WHERE application_id = ANY (:applications)
    """,
    """
    UPDATE offers SET token = id || :token, title = '', body_html = '', compensation_text = '', decline_reason = '',
        letter = NULL, send_error = NULL, mail_error = NULL, scheduled_send_at = NULL, updated_at = :moment,
        status = CASE WHEN status IN ('draft', 'scheduled', 'sent') THEN 'withdrawn' ELSE status END
    WHERE id = ANY (:offers)
    """,
    f"""
    UPDATE enrollments SET email = '', email_key = {NOBODY}, candidate_name = '', reject_reason = '', missed = NULL,
        waiting_reason = NULL, retry_at = NULL, updated_at = :moment, completed_at = coalesce(completed_at, :moment),
        rejected_at_stage = CASE WHEN completed_at IS NULL THEN current_stage ELSE rejected_at_stage END,
        status = CASE WHEN completed_at IS NULL THEN 'rejected' ELSE status END
    WHERE id = ANY (:enrollments)
    """,  # noqa: S608 - names of our own
    "UPDATE enrollment_events SET reason = '' WHERE enrollment_id = ANY (:enrollments)",
    "DELETE FROM enrollment_notes WHERE enrollment_id = ANY (:enrollments)",
    f"""
    UPDATE invitations SET token = id || :token, email = '', email_key = {NOBODY}, name = '', role = '',
        external_id = NULL, tags = '{{}}', mail_error = NULL, retake_of = NULL, updated_at = :moment,
        status = CASE status WHEN 'pending' THEN 'expired' ELSE status END
    WHERE id = ANY (:invitations)
    """,  # noqa: S608 - names of our own
    """
    UPDATE session_cases SET answer = NULL, tests = NULL, comment = NULL, claimed_by = NULL, claimed_until = NULL,
        updated_at = :moment
    WHERE session_id = ANY (:sessions)
    """,
    "DELETE FROM report_shares WHERE session_id = ANY (:sessions)",
    "UPDATE sessions SET updated_at = :moment WHERE id = ANY (:sessions)",
    # Its stream is written with the room's row locked, and never in one that is closed.
    """
    UPDATE interviews SET
        candidate_token = replace(CAST(id AS text), '-', '') || 'c' || left(:token, 30),
        interviewer_token = replace(CAST(id AS text), '-', '') || 'i' || left(:token, 30),
        title = '', candidate_email = '', candidate_name = '', resume_text = '', whiteboard_snapshot = NULL,
        session_metadata = session_metadata - ARRAY(
            SELECT key FROM jsonb_object_keys(session_metadata) AS key WHERE key <> 'cancelled_at'
        ),
        consent_text = NULL, analysis = NULL, outcome_comment = '', mail_error = NULL, updated_at = :moment,
        due_at = NULL, ended_at = CASE status WHEN 'active' THEN :moment ELSE ended_at END,
        status = CASE WHEN status IN ('prepared', 'scheduled', 'waiting') THEN 'expired'
                      WHEN status = 'active' THEN 'ended' ELSE status END
    WHERE id = ANY (:interviews)
    """,
    "UPDATE interview_questions SET current_code = starter_code WHERE interview_id = ANY (:interviews)",
    "DELETE FROM interview_events WHERE interview_id = ANY (:interviews)",
    "DELETE FROM interview_updates WHERE interview_id = ANY (:interviews)",
    "DELETE FROM interview_shares WHERE interview_id = ANY (:interviews)",
    "DELETE FROM status_links WHERE application_id = ANY (:applications)",
    "UPDATE scorecards SET criteria = '[]', updated_at = :moment WHERE candidate_id = ANY (:people)",
)
_ROWS = [Prepared(text(statement)) for statement in ROWS]
_CHUNKS = Prepared(
    text("""
    DELETE FROM recording_chunks
    WHERE recording_id IN (SELECT id FROM recordings WHERE session_id = ANY (:sessions)) RETURNING key, size_bytes
    """)
)
_RECORDINGS = Prepared(text("DELETE FROM recordings WHERE session_id = ANY (:sessions) RETURNING id"))
_NOTES = Prepared(text("DELETE FROM candidate_notes WHERE candidate_id = ANY (:people) RETURNING id"))
_FILES = Prepared(
    text("DELETE FROM attachments WHERE application_id = ANY (:applications) RETURNING id, key, size_bytes")
)
# What has no address in it and leads to the person all the same.
_TRACES = Prepared(
    text("""
    SELECT CAST(id AS text) AS word FROM scorecards WHERE candidate_id = ANY (:people)
    UNION ALL SELECT CAST(id AS text) FROM enrollment_notes WHERE enrollment_id = ANY (:enrollments)
    UNION ALL SELECT token FROM invitations WHERE id = ANY (:invitations)
    UNION ALL SELECT token FROM offers WHERE id = ANY (:offers)
    UNION ALL SELECT candidate_token FROM interviews WHERE id = ANY (:interviews)
    UNION ALL SELECT interviewer_token FROM interviews WHERE id = ANY (:interviews)
    """)
)
# What a payload tells of its person, and by which of its fields it is found.
PERSONAL = (
    "email",
    "candidate_email",
    "full_name",
    "candidate_name",
    "phone",
    "source_summary",
    "external_id",
    "reject_reason",
    "decline_reason",
    "title",
)
_BLANK = """
    {data} || coalesce((
        SELECT jsonb_object_agg(key, CAST('""' AS jsonb)) FROM jsonb_each({data})
        WHERE key = ANY (:personal) AND jsonb_typeof(value) = 'string'
    ), '{{}}')
"""
# As in ix_events_person and ix_outbox_person: the index finds what is asked for in its words.
_TELLS = "lower(coalesce(data ->> 'email', data ->> 'candidate_email')) = ANY (:emails)"
_EVENTS = Prepared(
    text(f"""
    UPDATE events SET data = {_BLANK.format(data="data")}
    WHERE organisation_id = :organisation_id AND livemode = :livemode AND {_TELLS}
    RETURNING id
    """)  # noqa: S608 - parts of our own
)
# A delivery goes with its event or before it, so whoever has the events has the deliveries.
_DELIVERIES = Prepared(
    text(f"""
    UPDATE deliveries SET response_body = NULL,
        payload = jsonb_set(payload, '{{data}}', {_BLANK.format(data="(payload -> 'data')")})
    WHERE endpoint_id IN (
              SELECT id FROM webhook_endpoints WHERE organisation_id = :organisation_id AND livemode = :livemode
          )
      AND event_id = ANY (:events)
    RETURNING id, lease_until > :moment AS in_hand
    """)  # noqa: S608
)
_MAILS = Prepared(
    text("""
    UPDATE outbox SET arguments = '{}', last_error = NULL, finished_at = coalesce(finished_at, :moment)
    WHERE organisation_id = :organisation_id AND livemode = :livemode AND job = 'mail'
      AND lower(coalesce(arguments ->> 'candidate_email', arguments ->> 'to')) = ANY (:emails)
    RETURNING id
    """)
)
_SET_ASIDE = Prepared(text("DELETE FROM set_aside WHERE kind = 'mail' AND row_id = ANY (:ids)"))
_PROFILES = Prepared(
    text(f"""
    UPDATE candidates SET email = '', email_key = {NOBODY}, full_name = '', phone = '', source_summary = '',
        tags = '{{}}', gone_at = coalesce(gone_at, :moment), updated_at = :moment
    WHERE id = ANY (:people)
    """)  # noqa: S608
)


_ANSWERED = Prepared(text("UPDATE deliveries SET response_body = NULL WHERE id = ANY (:ids)"))


def erase(session: Session, caller: Caller, id: UUID, *, with_answers: bool = True) -> dict[str, Any]:
    """Erase a person for ever, or raise NotFound; return how many rows of each kind lost what told of them.

    Without answers, what is kept for an Idempotency-Key goes with its day: to look at all of them is for one person.
    """
    [person] = candidates.hold(session, caller, [id])
    profiles = candidates.with_merged(session, person)
    addresses = {one.email for one in profiles if one.email}
    named: dict[str, Any] = {"people": [one.id for one in profiles]}
    for name, statement in _HELD.items():
        rows = statement.all(session, **named)
        named[name] = [row.id for row in rows]
        addresses |= {row.email for row in rows if row.email}
    # PostgreSQL, as it is set up, makes other letters small than Python does: as they stand they are found too.
    found = sorted({form(one) for one in addresses for form in (str, str.lower, _plainly_small)})
    moment = now()
    traces = [row.word for row in _TRACES.all(session, **named)]
    given = {**named, "moment": moment, "token": new_token()}
    counts = {name: len(ids) for name, ids in named.items() if name not in ("people", "sessions")}
    for statement in _ROWS:
        statement.run(session, **given)
    notes = _NOTES.all(session, **named)
    files = _FILES.all(session, **named)
    chunks = _CHUNKS.all(session, **named)
    recordings = _RECORDINGS.all(session, **named)
    if files or chunks:
        room.give_back(session, caller.organisation_id, sum(one.size_bytes for one in (*files, *chunks)))
    events = [row.id for row in _EVENTS.all(session, caller, emails=found, personal=list(PERSONAL))]
    inboxes.forget(session, caller, events)
    deliveries = _DELIVERIES.all(session, caller, events=events, personal=list(PERSONAL), moment=moment)
    mails = [row.id for row in _MAILS.all(session, caller, emails=found, moment=moment)]
    _SET_ASIDE.run(session, ids=mails)
    _PROFILES.run(session, **given)  # last: whoever links a row to them has ended by now
    held = (id for ids in named.values() for id in ids)
    traces += map(str, (*held, *(one.id for one in (*notes, *files, *recordings))))
    work = {
        "organisation_id": str(caller.organisation_id),
        "livemode": caller.livemode,
        "files": [one.key for one in (*files, *chunks)],
        "mails": [str(one) for one in mails],
        "deliveries": [str(one.id) for one in deliveries if one.in_hand],
        # No row tells them.
        "addresses": secrets.encrypt(orjson.dumps(found).decode()),
    }
    if with_answers:
        work["traces"] = secrets.encrypt(orjson.dumps(traces).decode())
    for delay in (timedelta(0), AGAIN_AFTER):
        outbox.add(session, caller, "erase", delay=delay, **work)
    gone = {
        "notes": notes,
        "files": files,
        "recordings": recordings,
        "events": events,
        "deliveries": deliveries,
        "mails": mails,
    }
    return {
        "erased_at": moment,
        "receipt_id": new_id(),
        "counts": counts | {name: len(rows) for name, rows in gone.items()},
    }


def finish(session: Session, mails: Sequence[str], deliveries: Sequence[str]) -> None:
    """Take out what was written of an erased person's mails and deliveries by who had them in hand."""
    _SET_ASIDE.run(session, ids=[UUID(one) for one in mails])
    _ANSWERED.run(session, ids=[UUID(one) for one in deliveries])


def _plainly_small(address: str) -> str:
    return address.encode().lower().decode()  # A to Z alone
