"""Applications that their job's own row does not count yet: rows apart, of which each transaction takes one to itself.

So who applies waits for nobody else's commit. The schedule adds them to the job within a second or two.
"""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules.clock import now
from store.database.aside import Row
from store.database.base import Base, Owned
from store.database.due import Due
from store.database.prepared import Prepared


class ApplicationTally(Base, Owned):
    """Some of a job's applications; a job has as many of these as transactions have ever counted side by side."""

    __tablename__ = "application_tallies"
    __table_args__ = (
        Index("ix_application_tallies_job", "job_id"),
        Index("ix_application_tallies_owner", "organisation_id", "livemode", "created_at"),
        Index("ix_application_tallies_due", "created_at"),
    )

    job_id: Mapped[UUID] = mapped_column(ForeignKey("jobs.id"))
    count: Mapped[int]


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
_FOLD = Prepared(
    text("""
    WITH held AS (
        SELECT id FROM jobs WHERE id IN (SELECT job_id FROM application_tallies WHERE id = ANY (:ids))
        FOR NO KEY UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM application_tallies USING held
        WHERE job_id = held.id AND application_tallies.id = ANY (:ids) RETURNING job_id, count
    )
    UPDATE jobs SET application_count = application_count + added.count, updated_at = :moment
    FROM (SELECT job_id, sum(count) AS count FROM gone GROUP BY job_id) AS added WHERE jobs.id = added.job_id
    """)
)
DUE = Due("application tallies", ApplicationTally, ApplicationTally.created_at)


def fold(session: Session, rows: Sequence[Row]) -> int:
    """Add tallies to their jobs, but for those that somebody applies for just now; return how many jobs it were."""
    return _FOLD.run(session, ids=[row.id for row in rows], moment=now())
