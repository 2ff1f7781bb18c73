"""How hiring goes."""

from datetime import date
from typing import Any
from uuid import UUID

from rules import usage
from rules.caller import Caller
from rules.clock import now
from schemas import insights as schemas
from store.database.engine import Reading
from store.measuring import funnel

Body = dict[str, Any]


def get_funnel(
    reading: Reading,
    caller: Caller,
    date_from: date | None,
    date_to: date | None,
    job_id: UUID | None,
    team_id: str | None,
) -> Body:
    """Show how far the applications of a span of days came."""
    moment = now()
    first, last = usage.between(
        date_from,
        date_to,
        moment.date(),
        usual=usage.USUAL_DAYS_OF_A_FUNNEL,
        names=("date_from", "date_to"),
    )
    found = funnel.read(reading, caller, first, last, job_id=job_id, team_id=team_id)
    return schemas.funnel(found, moment)
