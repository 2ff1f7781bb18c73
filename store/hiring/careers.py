"""What the world may see of an organisation: its open jobs of the live mode."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, Text, bindparam, func, or_, select
from sqlalchemy.orm import Session

from rules.caller import Caller
from rules.errors import NotFound
from store.accounts import organisations, squads
from store.accounts.organisations import Organisation
from store.accounts.squads import Squad
from store.database import listing
from store.database.base import ANYONE, Anyone, beside, visible
from store.database.pages import containing
from store.hiring.jobs import LISTED, Job

# The schedule closes what has expired a moment later.
_OPEN = (Job.status == "open", or_(Job.expires_at.is_(None), Job.expires_at > func.now()))


def visit(session: Session, slug: str) -> tuple[Organisation, Caller]:
    """Return an organisation and itself as a caller without a key, or raise NotFound."""
    found = organisations.by_slug(session, slug)
    if found is None:
        raise NotFound("There is no such organisation.")
    return found, Caller(found.id, livemode=True, plan_name=found.plan)


def hiring(session: Session, *, limit: int) -> Sequence[Organisation]:
    """Return organisations that have an open job, the newest first."""
    job = select(Job.id).where(Job.organisation_id == Organisation.id, Job.livemode, *_OPEN)
    found = select(Organisation).where(job.exists()).order_by(Organisation.id.desc()).limit(limit)
    return session.scalars(found).all()


def _open(caller: Caller | Anyone) -> Select[Job]:
    return visible(caller, Job).where(*_OPEN)


_TEXT = func.lower(func.concat_ws(" ", Job.title, Job.location_text, Job.region))
_WANTED = func.lower(bindparam("search", type_=Text()))
_SQUAD = select(Squad.id).where(
    Squad.organisation_id == ANYONE.organisation_id, Squad.slug == bindparam("team")
)
FILTERS = ("search", "location", "team", "position_type", "workplace_type")
# An organisation's open jobs are few, and found along an index: what else is asked of them needs none.
LIST = listing.Listing(
    _open(ANYONE).with_only_columns(*LISTED),
    {"-id": (Job.id,)},
    {
        "search": listing.Filter(
            _TEXT.like(_WANTED, escape="/"), read=containing, instead={"": None}, skewed=True
        ),
        "location": listing.Filter(
            Job.location_text == bindparam("location"), instead={"": None}, skewed=True
        ),
        "team": listing.Filter(Job.team_id.in_(_SQUAD), instead={"": None}, skewed=True),
        "position_type": listing.Filter(
            Job.position_types.contains(bindparam("position_type")), read=lambda kind: [kind], skewed=True
        ),
        "workplace_type": listing.equals(Job.workplace_type, skewed=True),
    },
    beside={"team": squads.BESIDE},
)

MOST_CHOICES = 1_000  # jobs that are looked at for what can be chosen


@dataclass(frozen=True)
class Choices:
    """What the open jobs differ in: what there is to choose from."""

    locations: list[str]
    teams: dict[str, str]  # name by slug
    position_types: list[str]
    workplace_types: list[str]


def choices(session: Session, caller: Caller) -> Choices:
    """Look at the newest open jobs for what there is to choose from."""
    asked = _open(caller).outerjoin(Job.team).order_by(Job.id.desc()).limit(MOST_CHOICES)
    rows = session.execute(
        asked.with_only_columns(
            Job.location_text, Job.workplace_type, Job.position_types, Squad.slug, Squad.name
        )
    ).all()
    return Choices(
        locations=sorted({row.location_text for row in rows if row.location_text}, key=str.casefold),
        teams=dict(
            sorted({(row.slug, row.name) for row in rows if row.slug}, key=lambda one: one[1].casefold())
        ),
        position_types=sorted({kind for row in rows for kind in row.position_types}),
        workplace_types=sorted({row.workplace_type for row in rows} - {"unspecified"}),
    )


def open_everywhere(session: Session, *, limit: int) -> list[Any]:
    """Return open jobs of all organisations, the newest first: slugs of both, and when the job last changed."""
    rows = (
        select(Organisation.slug.label("organisation"), Job.slug, Job.updated_at)
        .join(Organisation, Organisation.id == Job.organisation_id)
        .where(Job.livemode, *_OPEN)
    )
    return list(session.execute(rows.order_by(Job.id.desc()).limit(limit)))


def get(session: Session, caller: Caller, slug: str) -> Job:
    """Load one open job, or raise NotFound."""
    found = _open(caller).where(Job.slug == slug).options(*beside(Job.team, locked=False))
    row: Job | None = session.scalars(found).first()
    if row is None:
        raise NotFound("There is no such open job.")
    return row
