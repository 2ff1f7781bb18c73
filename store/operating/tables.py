"""Every module with tables, so that the metadata is complete wherever it is needed."""

from sqlalchemy.orm import configure_mappers

from store import events, outbox
from store.accounts import (
    idempotency,
    keys,
    members,
    organisations,
    passkeys,
    room,
    sign_ins,
    signed_in,
    squads,
    starts,
)
from store.advancing import enrollments, pipelines
from store.applying import applications, attachments, screening, status_links
from store.assessing import assessments, cases, invitations, recordings, sessions, shares, violations
from store.auditing import rows
from store.branding import settings
from store.database import aside
from store.database.base import Base
from store.delivering import inboxes, pending, webhooks
from store.hiring import fields, jobs, knockouts, requirements, tallies
from store.interviewing import presence, rooms, templates
from store.measuring import counts
from store.offering import offers
from store.operating import clocks
from store.people import candidates, notes, scorecards

__all__ = [
    "applications",
    "aside",
    "assessments",
    "attachments",
    "candidates",
    "cases",
    "clocks",
    "complete",
    "counts",
    "enrollments",
    "events",
    "fields",
    "idempotency",
    "inboxes",
    "invitations",
    "jobs",
    "keys",
    "knockouts",
    "members",
    "metadata",
    "notes",
    "offers",
    "organisations",
    "outbox",
    "passkeys",
    "pending",
    "pipelines",
    "presence",
    "recordings",
    "requirements",
    "room",
    "rooms",
    "rows",
    "scorecards",
    "screening",
    "sessions",
    "settings",
    "shares",
    "sign_ins",
    "signed_in",
    "squads",
    "starts",
    "status_links",
    "tallies",
    "templates",
    "violations",
    "webhooks",
]

metadata = Base.metadata


def complete() -> None:
    """Put the tables together: what one process knows of them, every process knows, and misses nothing later."""
    configure_mappers()
