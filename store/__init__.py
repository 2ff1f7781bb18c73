"""The only code that speaks SQL or Redis. Every query starts at `visible(caller)`."""

from store.database.engine import OUTAGES, at_once, reading
from store.transactions import transaction, writing

__all__ = ["OUTAGES", "at_once", "reading", "transaction", "writing"]
