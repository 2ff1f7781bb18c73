"""The only code that speaks SQL or Redis. Every query starts at `visible(caller)`."""

from store.database.engine import OUTAGES, at_once, reading
from store.database.waits import WaitRanOut
from store.transactions import in_transaction, in_writing, transaction, writing

__all__ = [
    "OUTAGES",
    "WaitRanOut",
    "at_once",
    "in_transaction",
    "in_writing",
    "reading",
    "transaction",
    "writing",
]
