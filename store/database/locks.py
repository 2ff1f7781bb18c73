"""The order in which a transaction takes locks, so that no two wait for each other in a circle.

`tests/operations/test_locks.py` reads from the statements of every operation and of the workers that it is kept. Rows
that are skipped when they are locked (SKIP LOCKED) are not waited for, and may be taken at any time.
"""

ORDER = (
    "invite_usage",  # the month; in test mode, which has none, an advisory lock of the organisation
    "interview_usage",  # the same month
    "squads",
    "jobs",
    "candidates",
    "applications",
    "offers",
    "pipelines",
    "enrollments",
    "invitations",
    "sessions",
    "assessments",
    "interview_templates",
    "interviews",
    "interview_presences",
    "webhook_endpoints",
    "files_kept",
    "event_sequences",  # the counter, at the commit
    "audit_chains",  # the heads of chains, at sealing
)
