"""Every module with tables, so that the metadata is complete wherever it is needed."""

from store import (
    assessments,
    cases,
    events,
    idempotency,
    invitations,
    jobs,
    keys,
    members,
    organisations,
    outbox,
    sessions,
    webhooks,
)
from store.base import Base

__all__ = [
    "assessments",
    "cases",
    "events",
    "idempotency",
    "invitations",
    "jobs",
    "keys",
    "members",
    "metadata",
    "organisations",
    "outbox",
    "sessions",
    "webhooks",
]

metadata = Base.metadata
