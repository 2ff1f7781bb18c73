"""The only code that speaks SQL or Redis. Every query starts at `visible(caller)`."""

from store.database.engine import OUTAGES, at_once, is_deadlock, reading
from store.transactions import in_transaction, transaction, writing

__all__ = ["OUTAGES", "at_once", "in_transaction", "is_deadlock", "reading", "transaction", "writing"]
