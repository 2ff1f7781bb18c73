"""The only code that speaks SQL or Redis. Every query starts at `visible(caller)`."""

from store.engine import OUTAGES, reading, transaction, writing

__all__ = ["OUTAGES", "reading", "transaction", "writing"]
