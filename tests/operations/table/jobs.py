"""Jobs with what is asked and wanted, and applications."""

from tests.operations import states
from tests.operations.rows import MULTIPART, Row
from tests.operations.table.assessments import LONG_AGO

JOB = {
    "title": "Senior backend engineer",
    "position_types": ["full_time"],
    "workplace_type": "remote",
    "location_text": "Lisbon",
    "country_code": "PT",
    "assessment_slug": "{slug}",
    "assessment_id": "{assessment_id}",
    "pipeline_slug": "{pipeline_slug}",
    "pipeline_id": "{pipeline_id}",
    "description_html": "<p>Build things.</p>",
}
FIELD = {
    "key": "language",
    "label": "Your language?",
    "field_type": "single_select",
    "is_required": True,
    "options": [{"value": "de", "label": "German", "sort_order": 1}, {"value": "en", "label": "English"}],
}
PERSON = {
    "email": "{email}",
    "full_name": "Ada Lovelace",
    "phone": "+351 210 000 000",
    "answers": {"years": 5},
}
CV = {"cv": ("cv.txt", states.CV, "text/plain")}
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

ROWS = {
    "list_jobs": Row(
        states.an_open_job, query={"status": "open", "search": "Senior", "updated_after": LONG_AGO}
    ),
    "create_job": Row(states.a_pipeline, JOB, status=201),
    "get_job": Row(states.a_full_job),
    "update_job": Row(states.a_job_beside_a_pipeline, JOB),
    "publish_job": Row(states.a_full_job),
    "close_job": Row(states.an_open_job),
    "list_fields": Row(states.a_job, query={"updated_after": LONG_AGO}),
    "create_field": Row(states.a_job, FIELD, status=201),
    "update_field": Row(states.a_job, {"label": "How many years?", "is_required": True, "sort_order": 2}),
    "delete_field": Row(states.a_job, status=204, answers=None),
    "list_knockouts": Row(states.a_full_job),
    "replace_knockouts": Row(
        states.a_job, {"rules": [{"field_key": "years", "operator": "gte", "value": 3, "on_fail": "hold"}]}
    ),
    "list_requirements": Row(states.a_full_job),
    "replace_requirements": Row(
        states.a_job,
        {"requirements": [{"kind": "skill", "label": "Python", "importance": "must", "weight": 3}]},
    ),
    "list_applications": Row(
        states.an_attachment("txt"),
        query={
            "job_id": "{job_id}",
            "job_slug": "{job_slug}",
            "status": "submitted",
            "email": "{person}",
            "ordering": "submitted_at",
            "updated_after": LONG_AGO,
        },
    ),
    "create_application": Row(
        states.an_open_job,
        {"job_slug": "{job_slug}", "job_id": "{job_id}", **PERSON, "source": "import"},
        status=201,
        media=MULTIPART,
        files=CV,
        also=(
            Row(
                states.an_application,
                {"job_slug": "{job_slug}", **PERSON, "email": "{person}"},
            ),
        ),
    ),
    "get_application": Row(states.a_screened_application),
    "upload_attachment": Row(
        states.a_screened_application,
        {"kind": "cv"},
        status=201,
        media=MULTIPART,
        files={"file": ("cv.txt", states.CV, "text/plain")},
    ),
    "download_attachment": Row(
        states.an_attachment("txt"),
        answers="text/plain",
        also=(
            Row(states.an_attachment("pdf"), answers="application/pdf"),
            Row(states.an_attachment("docx"), answers=WORD),
        ),
    ),
    "advance_application": Row(states.a_screened_application, {"send_email": True}),
    "reject_application": Row(states.an_application, {"reason": "Another was ahead."}),
    "hold_application": Row(states.an_application),
    "unhold_application": Row(states.an_application_after("hold")),
    "withdraw_application": Row(states.an_application),
    "hire_application": Row(states.an_application_after("advance")),
    "get_screening": Row(states.a_screened_application),
    "rerun_screening": Row(states.a_screened_application, {"action": "rescore"}),
}
