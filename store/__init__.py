"""The only code that speaks SQL or Redis. Every query starts at `visible(caller)`."""

from store.engine import reading, transaction, writing

__all__ = ["reading", "transaction", "writing"]
