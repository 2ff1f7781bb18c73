"""Who is asking."""

from dataclasses import dataclass
from uuid import UUID

from rules.plans import PLANS, Plan


@dataclass(frozen=True)
class Caller:
    """An organisation in one mode, through one key."""

    organisation_id: UUID
    livemode: bool
    plan_name: str
    scopes: frozenset[str] = frozenset()  # empty: all
    key_id: UUID | None = None

    @property
    def plan(self) -> Plan:
        """The numbers of the organisation's plan."""
        return PLANS[self.plan_name]
