"""Every module with tables, so that the metadata is complete wherever it is needed."""

from store import (
    assessments,
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
    sessions,
    webhooks,
)
from store.base import Base

__all__ = [
    "assessments",
    "cases",
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
    "sessions",
    "webhooks",
]

metadata = Base.metadata
