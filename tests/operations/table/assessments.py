"""The organisation, assessments, their cases and the catalogue."""

from tests.operations import states
from tests.operations.rows import Row

LONG_AGO = "2020-01-01T00:00:00Z"
SETTINGS = {
    "title": "Backend engineer",
    "description": "A few short tasks.",
    "time_limit_minutes": 60,
    "passing_score": 60,
    "team_id": None,
    "enforce_fullscreen": True,
    "copy_paste_disabled": True,
    "session_recording_enabled": False,
    "screen_recording_enabled": False,
    "webcam_recording_enabled": False,
    "notify_on_completion": True,
    "violation_review_threshold": 5,
    "pool_mode": False,
    "assignment_size": None,
    "shuffle_strategy": "random",
    "cases": [
        {"case_id": "{case_id}", "source": "org", "order": 1, "weight": "1.50", "time_limit_minutes": 10}
    ],
}
CASE = {
    "title": "A created resource",
    "case_type": "mcq",
    "description": "Statuses of HTTP.",
    "question": "Which status tells that a resource was **created**?",
    "difficulty": "easy",
    "points": 10,
    "time_limit_minutes": 5,
    "options": [
        {"id": "a", "text": "200 OK", "is_correct": False},
        {"id": "b", "text": "201 Created", "is_correct": True},
    ],
    "tags": ["http"],
}

TOLD = {
    "action": "create_job",
    "channel": "public_api",
    "outcome": "success",
    "search": "{job_id}",
    "since": LONG_AGO,
    "until": "2099-01-01T00:00:00Z",
}

ROWS = {
    "get_organisation": Row(),
    "list_integrations": Row(),
    "get_usage": Row(states.an_invitation, query={"start": "2026-01-01", "end": "2026-06-29"}),
    "list_audit_log": Row(states.a_told_change, query=TOLD),
    "list_requests": Row(
        states.a_told_change,
        query={
            "status": "201",
            "operation": "create_job",
            "since": LONG_AGO,
            "until": "2099-01-01T00:00:00Z",
        },
    ),
    "export_audit_log": Row(
        states.a_told_change,
        query={**TOLD, "export_format": "csv"},
        answers="text/csv",
        also=(Row(states.a_told_change, query={"export_format": "json"}),),
    ),
    "get_developer_health": Row(states.an_invitation),
    "update_organisation": Row(body={"name": "Northwind Labs", "notify_on_candidate_completion": True}),
    "list_assessments": Row(
        states.an_assessment, query={"status": "active", "search": "engineer", "updated_after": LONG_AGO}
    ),
    "create_assessment": Row(states.a_case, SETTINGS, status=201),
    "get_assessment": Row(states.a_draft),
    "update_assessment": Row(states.a_draft, {**SETTINGS, "status": "active"}),
    "duplicate_assessment": Row(states.a_draft, {"title": "Backend engineer, again"}, status=201),
    "list_assessment_cases": Row(states.a_draft),
    "attach_cases": Row(states.a_draft, {"cases": SETTINGS["cases"]}, status=201),
    "replace_cases": Row(states.a_draft, {"cases": SETTINGS["cases"]}),
    "remove_case": Row(states.a_draft, status=204, answers=None),
    "list_results": Row(states.a_submission, query={"status": "completed", "updated_after": LONG_AGO}),
    "export_results": Row(states.a_submission, query={"status": "completed"}, answers="text/csv"),
    "compare_results": Row(states.two_submissions, query={"invite_token": ["{token}", "{other_token}"]}),
    "list_platform_cases": Row(query={"case_type": "mcq", "page_size": "3"}),
    "list_cases": Row(states.a_case, query={"updated_after": LONG_AGO}),
    "create_case": Row(body=CASE, status=201),
    "get_case": Row(states.a_case),
    "delete_case": Row(states.a_case, status=204, answers=None),
    "update_case": Row(
        states.a_case, {"title": "In your own words", "points": 20, "rubric": "Writes; selectivity."}
    ),
}
