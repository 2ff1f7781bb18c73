"""Applications that their job's own row does not count yet: rows apart, of which each transaction takes one to itself.

So who applies waits for nobody else's commit. The schedule adds them to the job within a second or two.
"""

from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from store.database.due import Due
from store.database.tallies import Tally, folding


class ApplicationTally(Tally):
    """Some of a job's applications."""

    __tablename__ = "application_tallies"
    __table_args__ = (
        Index("ix_application_tallies_job", "job_id"),
        Index("ix_application_tallies_owner", "organisation_id", "livemode", "created_at"),
        Index("ix_application_tallies_due", "created_at"),
    )

    job_id: Mapped[UUID] = mapped_column(ForeignKey("jobs.id"))


# Whichever row nobody else has in hand, or one of its own.
COUNT = """
    counted AS (
        UPDATE application_tallies SET count = count + 1
        WHERE id = (SELECT id FROM application_tallies WHERE job_id = :job_id LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING id
    ), begun AS (
        INSERT INTO application_tallies (id, created_at, organisation_id, livemode, job_id, count)
        SELECT :tally, :moment, :organisation_id, :livemode, :job_id, 1 WHERE NOT EXISTS (SELECT FROM counted)
    )
"""
fold = folding("application_tallies", "job_id", "jobs", "application_count")
DUE = Due("application tallies", ApplicationTally, ApplicationTally.created_at)
