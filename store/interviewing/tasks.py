"""What a room's questions may be taken from: the organisation's own cases and the platform's."""

from typing import Any

from sqlalchemy import Text, bindparam, func, select
from sqlalchemy.orm import aliased

from store.assessing.cases import Case, own
from store.database import listing
from store.database.base import ANYONE
from store.database.pages import containing

# Each half along its index, in the order of the list.
_ALL = own(ANYONE).union_all(
    select(Case).where(Case.organisation_id.is_(None), Case.livemode.is_(None), Case.deleted_at.is_(None))
)
Task = aliased(Case, _ALL.subquery("tasks"), name="task")
_TITLED = func.lower(Task.title).like(func.lower(bindparam("q", type_=Text())), escape="/")
_SHOWN: tuple[Any, ...] = (Task.id, Task.title, Task.case_type, Task.difficulty)
LIST = listing.Listing(
    select(*_SHOWN),
    {"-id": (Task.id,)},
    {"q": listing.Filter(_TITLED, read=containing, instead={"": None}, skewed=True)},
)
