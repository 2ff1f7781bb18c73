"""The people of an organisation: their roles, and the seats that the plan has for them."""

from datetime import timedelta

from rules.errors import LimitReached
from rules.plans import Plan

ROLES = ("owner", "admin", "developer", "recruiter", "reviewer", "member")
NOTIFIED = ("owner", "admin", "recruiter")  # who is mailed about candidates

INVITED_FOR = timedelta(days=14)


def check_seat(plan: Plan, used: int) -> None:
    """Refuse one more where members and open invites take every seat of the plan."""
    if plan.seats is not None and used >= plan.seats:
        raise LimitReached("Every seat of the plan is taken.", limit=plan.seats, used=used)
