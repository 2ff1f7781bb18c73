"""Profiles, what is written of people, and duplicates."""

from tests.operations import states
from tests.operations.rows import Row
from tests.operations.table.assessments import LONG_AGO

SCORECARD = {
    "total": "9.50",
    "criteria": [{"name": "Clarity", "score": 4.5}, {"name": "SQL", "score": 5}],
    "application_id": "{application_id}",
    "assessment_id": "{assessment_id}",
}

ROWS = {
    "list_candidates": Row(
        states.a_candidate_with_notes,
        query={"search": "{person}", "tag": "berlin", "include_archived": "true", "updated_after": LONG_AGO},
    ),
    "get_candidate": Row(states.a_candidate_with_notes),
    "update_candidate": Row(
        states.a_candidate,
        {"full_name": "Ada King", "phone": "+351 1", "source_summary": "Grace knows her", "archived": True},
    ),
    "list_notes": Row(states.a_candidate_with_notes),
    "create_note": Row(states.a_candidate, {"body": "Would like to start in May."}, status=201),
    "get_candidate_tags": Row(states.a_candidate_with_notes),
    "replace_candidate_tags": Row(states.a_candidate, {"tags": ["berlin", "python"]}),
    "list_scorecards": Row(states.a_candidate_with_notes, query={"updated_after": LONG_AGO}),
    "create_scorecard": Row(states.a_candidate, SCORECARD, status=201),
    "export_candidate": Row(states.a_candidate_with_notes),
    "erase_candidate": Row(states.a_candidate_with_notes),
    "merge_candidates": Row(states.two_candidates, {"source_id": "{source_id}"}),
}
