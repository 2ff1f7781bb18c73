"""Profiles: what an organisation knows and thinks of people."""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from gateways import files
from rules import candidates as rules
from rules import decimals, links
from rules.caller import Caller
from rules.clock import iso, now
from rules.errors import NotFound
from rules.pages import Page
from schemas import candidates as schemas
from store import events
from store.accounts import organisations
from store.applying import applications
from store.assessing import assessments, recordings
from store.database.engine import Reading
from store.people import candidates, erasing, exporting, merging, notes, scorecards
from store.people.candidates import Candidate

Body = dict[str, Any]
Begin = Callable[[], AbstractContextManager[Session]]
ACTOR = "public_api"
log = logging.getLogger("hiring.candidates")


def list_candidates(reading: Reading, caller: Caller, **query: Any) -> Page:
    """List profiles, newest first."""
    return candidates.LIST.page(reading, caller, **query).map(schemas.item)


def get_candidate(session: Session, caller: Caller, candidate_id: UUID) -> Body:
    """Show one profile."""
    return _shown(session, caller, candidates.get(session, caller, candidate_id))


def update_candidate(session: Session, caller: Caller, candidate_id: UUID, body: Body) -> Body:
    """Change what a profile says."""
    found = candidates.get(session, caller, candidate_id, for_update=True)
    changes = {name: value.strip() for name, value in body.items() if name != "archived"}
    if "archived" in body:
        changes["archived_at"] = (found.archived_at or now()) if body["archived"] else None
    found.change(changes)
    _tell_of_change(session, found)
    return _shown(session, caller, found)


def list_notes(session: Session, caller: Caller, candidate_id: UUID, **query: Any) -> Page:
    """List what was written about somebody, newest first."""
    query["candidate_id"] = candidates.get(session, caller, candidate_id).id
    return notes.LIST.page(session, caller, **query).map(schemas.note)


def create_note(session: Session, caller: Caller, candidate_id: UUID, body: Body) -> Body:
    """Write a note."""
    found = candidates.write_on(session, caller, candidate_id)
    made = notes.create(session, found, body["body"], "member" if caller.person else ACTOR, caller.author_id)
    told = schemas.event(found) | {"note": schemas.note_event(made)}
    events.record(session, "candidate.note_added", found, told)
    return schemas.note(made)


def get_candidate_tags(session: Session, caller: Caller, candidate_id: UUID) -> Body:
    """Show the tags."""
    return {"tags": candidates.get(session, caller, candidate_id).tags}


def replace_candidate_tags(session: Session, caller: Caller, candidate_id: UUID, body: Body) -> Body:
    """Keep these tags and no others."""
    found = candidates.get(session, caller, candidate_id, for_update=True)
    found.tags = rules.unite(body["tags"])
    _tell_of_change(session, found)
    return {"tags": found.tags}


def _tell_of_change(session: Session, found: Candidate) -> None:
    if session.is_modified(found):  # what was read and is sent back changes nothing
        events.record(session, "candidate.updated", found, schemas.event(found))


def list_scorecards(session: Session, caller: Caller, candidate_id: UUID, **query: Any) -> Page:
    """List how somebody was judged, newest first."""
    query["candidate_id"] = candidates.get(session, caller, candidate_id).id
    return scorecards.LIST.page(session, caller, **query).map(schemas.scorecard)


def create_scorecard(session: Session, caller: Caller, candidate_id: UUID, body: Body) -> Body:
    """Keep a judgement."""
    found = candidates.write_on(session, caller, candidate_id)
    application_id, assessment_id = body.get("application_id"), body.get("assessment_id")
    if application_id and applications.get(session, caller, application_id).candidate_id != found.id:
        raise NotFound("The candidate has no such application.")
    if assessment_id:
        assessments.get(session, caller, str(assessment_id))
    judged = {
        "total": decimals.cents(body["total"]) + 0,  # no minus before a zero
        "criteria": body["criteria"],
        "application_id": application_id,
        "assessment_id": assessment_id,
        "author_id": caller.author_id,
    }
    return schemas.scorecard(scorecards.create(session, found, judged))


def merge_candidates(session: Session, caller: Caller, candidate_id: UUID, body: Body) -> Body:
    """Merge a duplicate into the profile of the path."""
    source_id = UUID(str(body["source_id"]))
    survivor = merging.merge(session, caller, candidate_id, source_id)
    told = schemas.event(survivor) | {"merged_candidate_id": str(source_id)}
    events.record(session, "candidate.merged", survivor, told)
    return _shown(session, caller, survivor)


def export_candidate(begin: Begin, caller: Caller, candidate_id: UUID) -> Body:
    """Hand out everything that is held on a person; files are read outside the transaction."""
    with begin() as session:
        found = candidates.get(session, caller, candidate_id)
        held = exporting.everything(session, found)
        shown = {
            "exported_at": iso(now()),
            "candidate": schemas.item(found),
            "addresses": [one.email for one in candidates.with_merged(session, found)],
            "notes": [schemas.note(one) for one in notes.all_of(session, found)],
            "scorecards": [schemas.scorecard(one) for one in scorecards.all_of(session, found)],
            **held,
            "meta": organisations.quota(session, caller),
        }
    for one in (one for invitation in held["invitations"] for one in invitation["sessions"]):
        url = links.recordings(recordings.seal(UUID(one["id"])))
        one["recordings"] = [track | {"url": url} for track in one["recordings"]]
    kept = [(one, files.get(one["key"])) for one in held["files"]]
    shown["files"] = [schemas.file(one, content) for one, content in kept]
    return shown


def erase_candidate(session: Session, caller: Caller, candidate_id: UUID) -> Body:
    """Take out everywhere what tells of a person."""
    done = erasing.erase(session, caller, candidate_id)
    log.info("erased", extra={"candidate_id": str(candidate_id), "receipt_id": str(done["receipt_id"])})
    return {**done, "erased_at": iso(done["erased_at"]), "receipt_id": str(done["receipt_id"])}


def _shown(session: Session, caller: Caller, candidate: Candidate) -> Body:
    """Show a profile with the newest of what was written of it."""
    session.flush()
    newest: dict[str, Any] = {
        "cursor": None,
        "page_size": rules.MOST_SHOWN,
        "candidate_id": candidate.id,
    }
    return schemas.detail(
        candidate,
        candidates.counts(session, candidate.id),
        notes.LIST.page(session, caller, **newest).results,
        scorecards.LIST.page(session, caller, **newest).results,
    )
