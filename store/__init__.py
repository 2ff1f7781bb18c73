"""The only code that speaks SQL or Redis. Every query starts at `visible(caller)`."""

from store.database.engine import OUTAGES, at_once, reading
from store.database.waits import WaitRanOut
from store.telling import NeedsTransaction
from store.transactions import alone, in_transaction, in_writing, transaction, writing

__all__ = [
    "OUTAGES",
    "NeedsTransaction",
    "WaitRanOut",
    "alone",
    "at_once",
    "in_transaction",
    "in_writing",
    "reading",
    "transaction",
    "writing",
]
