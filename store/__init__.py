"""The only code that speaks SQL or Redis. Every query starts at `visible(caller)`."""

from store.engine import reading, transaction

__all__ = ["reading", "transaction"]
