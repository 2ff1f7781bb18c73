"""What a room's questions may be taken from: the organisation's own cases and the platform's."""

from sqlalchemy import Text, bindparam, func, select, union_all

from store.assessing.cases import Case, own
from store.database import listing
from store.database.base import ANYONE
from store.database.pages import containing

_SHOWN = (Case.id, Case.title, Case.case_type, Case.difficulty)
_PLATFORM = select(*_SHOWN).where(
    Case.organisation_id.is_(None), Case.livemode.is_(None), Case.deleted_at.is_(None)
)
# One's own are found by their owner, and of the platform's there are few: each page looks at no other's. Both are in
# order before they meet, or PostgreSQL would put all of them in order.
_ORDER = Case.id.desc()
_OWN = own(ANYONE).with_only_columns(*_SHOWN).order_by(_ORDER)
_ALL = union_all(_OWN, _PLATFORM.order_by(_ORDER)).subquery("tasks")
_TITLED = func.lower(_ALL.c.title).like(func.lower(bindparam("q", type_=Text())), escape="/")
LIST = listing.Listing(
    select(_ALL),
    {"-id": (_ALL.c.id,)},  # type: ignore[dict-item]  # a column like any other
    {"q": listing.Filter(_TITLED, read=containing, instead={"": None}, skewed=True)},
)
