"""Squads, and pipelines with their stages."""

from tests.operations import states
from tests.operations.rows import Row
from tests.operations.table.assessments import LONG_AGO

STAGES = [
    {
        "stage_type": "assessment",
        "label": "Coding",
        "assessment_slug": "{assessment_slug}",
        "assessment_id": "{assessment_id}",
        "interview_template_id": None,
        "pass_score_override": "75.50",
        "order": 1,
    },
    {"stage_type": "manual_review", "label": "The team decides", "order": 2},
]
PIPELINE = {"title": "Engineering", "description": "From the application to a decision."}

ROWS = {
    "list_squads": Row(states.a_squad),
    "create_squad": Row(body={"name": "Platform team"}, status=201),
    "get_squad": Row(states.a_squad),
    "list_pipelines": Row(
        states.a_pipeline_of_a_squad,
        query={"updated_after": LONG_AGO},
        also=(Row(states.a_pipeline_of_a_squad, query={"team_id": "{team_id}", "team_slug": "{team_slug}"}),),
    ),
    "create_pipeline": Row(
        states.a_pipeline_of_a_squad, {**PIPELINE, "team_id": "{team_id}", "stages": STAGES}, status=201
    ),
    "get_pipeline": Row(states.a_pipeline_of_a_squad),
    "update_pipeline": Row(
        states.a_pipeline_of_a_squad, {**PIPELINE, "team_id": None, "archived": False, "stages": STAGES}
    ),
}
