"""Interviews and their templates."""

from tests.operations import states
from tests.operations.rows import Row
from tests.operations.table.assessments import LONG_AGO

SOON = "2031-01-02T09:00:00.000Z"
QUESTION = {
    "title": "A slow page",
    "question_type": "text",
    "body": "A page takes four seconds. Where do you look first?",
    "starter_code": "# here",
    "solution": "Measure.",
    "expected_answer": "Measure before anything is changed.",
    "hints": ["What would you measure?", {"more": True}],
    "difficulty": "medium",
}
SETTINGS = {
    "interview_type": "mixed",
    "interviewer_mode": "human_only",
    "time_limit_minutes": 45,
    "active_language": "go",
    "integrity_config": {"focus_loss": True, "threshold": 3},
    "job_description": "We build hiring tools.",
    "voice_mode": True,
    "human_can_join": True,
    "target_role": "Senior backend engineer",
    "target_company": "Northwind Labs",
    "difficulty": "senior",
    "coding_case_ids": ["{case_id}"],
    "questions": [QUESTION],
    "interviewers": ["{user_id}"],
}
TEMPLATE = {"title": "Backend interview", **SETTINGS}
ROOM = {
    **TEMPLATE,
    "template_id": "{template_id}",
    "scheduled_at": SOON,
    "send_invite": True,
}

ROWS = {
    "list_interviews": Row(
        states.an_interview,
        query={
            "status": "scheduled",
            "interview_type": "technical",
            "interviewer_mode": "human_only",
            "q": "LOVEL",
            "updated_after": LONG_AGO,
        },
    ),
    "create_interview": Row(
        states.what_an_interview_needs,
        {
            **ROOM,
            "candidate_email": "{email}",
            "candidate_name": "Ada Lovelace",
            "resume_text": "Ten years of Python.",
            "pipeline_enrollment_id": "{enrollment_id}",
        },
        status=201,
    ),
    "bulk_interview": Row(
        states.what_an_interview_needs,
        {
            **ROOM,
            "candidates": [
                {"email": "{email}", "name": "Ada Lovelace", "resume_text": "Ten years of Python."},
                {"email": "nobody"},
            ],
        },
        status=201,
    ),
    "get_interview": Row(states.an_interview),
    "cancel_interview": Row(states.an_interview),
    "reschedule_interview": Row(states.an_interview, {"scheduled_at": SOON}),
    "share_interview": Row(states.an_interview, {"expires_days": 7}, status=201),
    "settle_interview": Row(states.an_interview, {"recommendation": "advance", "comment": "Solid."}),
    "get_analysis": Row(states.an_interview),
    "get_replay": Row(states.an_interview),
    # The catalogue is everybody's.
    "list_org_tasks": Row(query={"q": "SALARY"}),
    "list_interview_templates": Row(states.an_interview_template, query={"updated_after": LONG_AGO}),
    "create_interview_template": Row(states.what_an_interview_needs, TEMPLATE, status=201),
    "get_interview_template": Row(states.an_interview_template),
    "update_interview_template": Row(states.what_an_interview_needs, TEMPLATE),
    "delete_interview_template": Row(states.an_interview_template, status=204, answers=None),
}
