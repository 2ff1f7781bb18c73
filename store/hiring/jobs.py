"""Jobs, and what the schedule does with them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

from sqlalchemy import (
    ForeignKey,
    Index,
    Numeric,
    UniqueConstraint,
    func,
    select,
    text,
)
from sqlalchemy.orm import Mapped, Session, column_property, mapped_column, relationship, undefer

from rules import jobs as rules
from rules.caller import Caller
from rules.clock import now
from rules.errors import NotFound
from store import events
from store.accounts import squads
from store.accounts.squads import Squad
from store.advancing.pipelines import Pipeline
from store.assessing.assessments import Assessment
from store.database import listing
from store.database.aside import Row
from store.database.base import ANYONE, Base, Updated, beside, free_slug, visible
from store.database.due import Due
from store.database.engine import Means
from store.database.named import Named, Reader, by_key
from store.database.tallies import total
from store.hiring.tallies import ApplicationTally

# What a search looks at, and whatever else is asked with it.
SIFTED = ["title", "status", "team_id", "updated_at"]


class Job(Base, Named, Updated):
    """A job opening."""

    __tablename__ = "jobs"
    __table_args__ = (
        UniqueConstraint("organisation_id", "livemode", "slug"),
        Index("ix_jobs_owner", "organisation_id", "livemode", "id", postgresql_include=SIFTED),
        Index("ix_jobs_owner_updated_at", "organisation_id", "livemode", "updated_at"),
        Index("ix_jobs_team", "organisation_id", "livemode", "team_id", "id"),
        Index("ix_jobs_status", "organisation_id", "livemode", "status", "id"),
        Index(
            "ix_jobs_publish",
            "scheduled_publish_at",
            postgresql_where=text("status = 'draft' AND publish_error IS NULL"),
        ),
        Index("ix_jobs_expiry", "expires_at", postgresql_where=text("status = 'open'")),
        # Of all organisations.
        Index("ix_jobs_open", "id", postgresql_where=text("status = 'open' AND livemode")),
    )

    title: Mapped[str]
    status: Mapped[str] = mapped_column(default="draft")  # draft, open, closed
    team_id: Mapped[UUID | None] = mapped_column(ForeignKey("squads.id"))
    position_types: Mapped[list[str]] = mapped_column(default=list)
    workplace_type: Mapped[str] = mapped_column(default="unspecified")
    location_text: Mapped[str] = mapped_column(default="")
    country_code: Mapped[str] = mapped_column(default="")
    region: Mapped[str] = mapped_column(default="")
    expires_at: Mapped[datetime | None]
    scheduled_publish_at: Mapped[datetime | None]
    publish_error: Mapped[str | None]  # why the schedule could not publish it; a change of the job clears it
    cv_required: Mapped[bool] = mapped_column(default=False)
    auto_invite_assessment: Mapped[bool] = mapped_column(default=False)  # deprecated, without effect
    assessment_id: Mapped[UUID | None] = mapped_column(ForeignKey("assessments.id"))
    pipeline_id: Mapped[UUID | None] = mapped_column(ForeignKey("pipelines.id"))
    sample_task: Mapped[str | None]
    description_html: Mapped[str] = mapped_column(default="")
    rejection_visibility: Mapped[str] = mapped_column(default="delayed")
    rejection_text: Mapped[str] = mapped_column(default="", server_default="")  # empty: the organisation's
    cv_analysis_enabled: Mapped[bool] = mapped_column(default=False)
    screen_auto_advance_enabled: Mapped[bool] = mapped_column(default=False)
    screen_auto_advance_l3_min: Mapped[Decimal | None] = mapped_column(Numeric(6, 2))
    counted: Mapped[int] = mapped_column("application_count", default=0)  # applications, but for the tallies
    published_at: Mapped[datetime | None]
    closed_at: Mapped[datetime | None]
    language: Mapped[str | None]  # in which its candidates are spoken to; None: their own

    team: Mapped[Squad | None] = relationship(lazy="raise")
    assessment: Mapped[Assessment | None] = relationship(lazy="raise")
    pipeline: Mapped[Pipeline | None] = relationship(lazy="raise")

    if TYPE_CHECKING:
        application_count: Mapped[int]


_APPLICATIONS = total(Job.counted, ApplicationTally, ApplicationTally.job_id, Job, "application_count")
Job.application_count = column_property(_APPLICATIONS, deferred=True)

LINKS = ("team", "assessment", "pipeline")


def get(session: Session, caller: Caller, key: str, *, for_update: bool = False) -> Job:
    """Load one by slug or id with what it is linked to, or raise NotFound."""
    links = beside(*(getattr(Job, name) for name in LINKS), locked=for_update)
    found = by_key(caller, Job, key).options(*links)
    # What is read beside a lock that is waited for is as old as the wait.
    found = found.with_for_update(of=Job) if for_update else found.options(undefer(Job.application_count))
    row = session.scalars(found).first()
    if row is None:
        raise NotFound("There is no such job.")
    return row


find_id = Reader(Job, Job.id).id
# Lists show no long texts.
LISTED = tuple(
    one
    for one in Job.__table__.columns
    if one.name not in ("description_html", "rejection_text", "language", "application_count")
)
_BESIDE: dict[str, listing.Beside] = {
    "team": squads.BESIDE,
    "assessment": (lambda page: Assessment.id == page.c.assessment_id, (Assessment.slug,)),
    "pipeline": (lambda page: Pipeline.id == page.c.pipeline_id, (Pipeline.slug,)),
}
LIST = listing.Listing(
    visible(ANYONE, Job).with_only_columns(*LISTED, _APPLICATIONS),
    {"-id": (Job.id,)},
    {
        "search": listing.search(Job.title),
        "status": listing.equals(Job.status, instead={"all": None}),
        "team_id": squads.owning(Job.team_id),
        "updated_after": listing.updated_after(Job),
    },
    beside=_BESIDE,
)
_READER = Reader(
    Job,
    *(one for one in Job.__table__.columns if one.name != "application_count"),
    _APPLICATIONS,
    beside=_BESIDE,
)


def read(means: Means, caller: Caller, key: str) -> Any:
    """Read the columns of one by slug or id with what it is linked to, or raise NotFound."""
    row = _READER.first(means, caller, key)
    if row is None:
        raise NotFound("There is no such job.")
    return row


def count_open(session: Session, caller: Caller) -> int:
    """Count what the plan counts: live jobs that are open."""
    counted = select(func.count()).where(
        Job.organisation_id == caller.organisation_id, Job.livemode, Job.status == "open"
    )
    return session.scalar(counted) or 0


def create(session: Session, caller: Caller, settings: Mapping[str, Any]) -> Job:
    """Make a draft; its slug comes from its title. The organisation row must be locked."""
    job = Job(
        organisation_id=caller.organisation_id,
        livemode=caller.livemode,
        slug=free_slug(
            session, caller, Job, settings["title"], otherwise="job", reserved=rules.RESERVED_SLUGS
        ),
        **settings,
    )
    session.add(job)
    session.flush()
    return job


def publish(session: Session, caller: Caller, job: Job, show: events.Shape) -> None:
    """Open a draft, or refuse. The organisation row must be locked, then the job's."""
    move = rules.publish(
        job.status,
        expires_at=job.expires_at,
        assessment_status=job.assessment.status if job.assessment else None,
        pipeline_archived=job.pipeline is not None and job.pipeline.archived_at is not None,
        limit=caller.plan.open_jobs if caller.livemode else None,
        open_jobs=count_open(session, caller),
        now=now(),
    )
    events.apply(session, job, move, show)


# It is not locked where it is chosen, because its organisation comes first.
PUBLICATIONS = Due(
    "job publications",
    Job,
    Job.scheduled_publish_at,
    Job.status == "draft",
    Job.publish_error.is_(None),
    locked=False,
)
EXPIRIES = Due("job expiries", Job, Job.expires_at, Job.status == "open")


def overdue(session: Session, rows: Sequence[Row]) -> Sequence[Job]:
    """Take those open jobs whose time is over, the first that ended first."""
    return session.scalars(
        select(Job).where(*EXPIRIES.among(rows)).order_by(Job.expires_at).with_for_update(skip_locked=True)
    ).all()
