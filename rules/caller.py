"""Who is asking."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from rules.plans import PLANS, Plan


@dataclass(frozen=True)
class Person:
    """A member who is signed in, by one session."""

    id: UUID  # of the member
    user_id: UUID
    role: str
    session_id: UUID
    proven_at: datetime  # when they last showed who they are
    token: str = field(repr=False)  # with which forms and scripts show that the page is ours


@dataclass(frozen=True)
class Caller:
    """An organisation in one mode, through one key or one member's session."""

    organisation_id: UUID
    livemode: bool
    plan_name: str
    scopes: frozenset[str] = frozenset()  # empty: all
    key_id: UUID | None = None
    person: Person | None = None
    squads: frozenset[UUID] | None = None  # whose rows are seen beside those of no squad; None: all

    @property
    def author_id(self) -> UUID | None:
        """Whose what is written is: the member's `user_id`; nobody's where a key asks."""
        return self.person.user_id if self.person else None

    @property
    def plan(self) -> Plan:
        """The numbers of the organisation's plan."""
        return PLANS[self.plan_name]
