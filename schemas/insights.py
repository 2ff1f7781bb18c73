"""What the funnel looks like outside."""

from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from rules.clock import iso
from rules.decimals import cents, written

RATE, HOUR = Decimal("0.0001"), 3600


def funnel(found: Any, moment: datetime) -> dict[str, Any]:
    """Show the stages, each with what part came of the one before it, and the figures by source and job."""
    stages, before = [], 0
    for name, step in found.stages.items():
        rate = (Decimal(step.came) / before).quantize(RATE, ROUND_HALF_UP) if before else None
        hours = None if step.seconds is None else cents(Decimal(step.seconds) / HOUR)
        stages.append(
            {
                "stage": name,
                "count": step.count,
                "conversion_from_previous": None if rate is None else written(rate, 4),
                "median_hours_from_previous": None if hours is None else written(hours),
            }
        )
        before = step.count
    return {
        "stages": stages,
        "by_source": found.by_source,
        "by_origin": found.by_origin,
        "by_job": found.by_job,
        "generated_at": iso(moment),
    }
