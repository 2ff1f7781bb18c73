"""Figures of hiring."""

from tests.operations import states
from tests.operations.rows import Row

ROWS = {
    "get_funnel": Row(
        states.an_application,
        query={"date_from": "2026-01-01", "date_to": "2126-01-01", "job_id": "{job_id}"},
        also=(Row(states.a_squad, query={"team_id": "{team_id}"}),),
    )
}
