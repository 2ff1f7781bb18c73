"""Every module with tables, so that the metadata is complete wherever it is needed."""

from sqlalchemy.orm import configure_mappers

from store import (
    applications,
    assessments,
    attachments,
    candidates,
    cases,
    events,
    fields,
    idempotency,
    invitations,
    jobs,
    keys,
    knockouts,
    members,
    organisations,
    outbox,
    requirements,
    screening,
    sessions,
    webhooks,
)
from store.base import Base

__all__ = [
    "applications",
    "assessments",
    "attachments",
    "candidates",
    "cases",
    "complete",
    "events",
    "fields",
    "idempotency",
    "invitations",
    "jobs",
    "keys",
    "knockouts",
    "members",
    "metadata",
    "organisations",
    "outbox",
    "requirements",
    "screening",
    "sessions",
    "webhooks",
]

metadata = Base.metadata


def complete() -> None:
    """Put the tables together: what one process knows of them, every process knows, and misses nothing later."""
    configure_mappers()
