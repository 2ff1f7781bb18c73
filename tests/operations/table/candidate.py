"""What needs no key: the candidate's side, careers, the pages, the documents and the service's health."""

from tests import recording
from tests.operations import states
from tests.operations.rows import FORM, MULTIPART, Row
from tests.operations.table.jobs import CV, PERSON

PAGE = "text/html"
WORDS = {
    "utm_source": "newsletter",
    "utm_medium": "email",
    "utm_campaign": "spring",
    "ref": "ada",
    "referrer": "news.example.org",
}
STRANGER = PERSON | WORDS | {"consent_accepted": True}
CHUNK = {"kind": "webcam", "media_type": "video/webm", "started_ms": 1000, "duration_ms": 5000}
PART = {"content": ("chunk", recording.PICTURE, "application/octet-stream")}
LOOKING = {
    "search": "engineer",
    "location": "Berlin",
    "team": "platform",
    "position_type": "full_time",
    "workplace_type": "hybrid",
}
CORRECTED = {"full_name": "Ada King", "phone": "+44 20 7946 0001", "answers": {"years": "6"}}
SMALL = Row(states.an_open_job_in_capitals, status=308, answers=None)
CODE = "print(int(input()))"
STROKE = {"colour": "blue", "width": 3, "points": [[120, 80], [420.5, 80]]}

ROWS = {
    "get_session": Row(states.an_invitation),
    "start_session": Row(states.an_invitation, {"consent_accepted": True}),
    "save_answer": Row(states.a_sitting, {"answer": "It depends on the reads."}),
    "run_code": Row(states.a_programming_sitting, {"answer": CODE}),
    "get_run": Row(states.a_sitting),
    "report_violation": Row(states.a_sitting, {"violation_type": "focus_loss", "case_order": 1}, status=201),
    "save_recording_chunk": Row(
        recording.a_sitting,
        CHUNK,
        media=MULTIPART,
        files=PART,
        also=(Row(recording.a_result, CHUNK, media=MULTIPART, files=PART),),
    ),
    "show_recordings_page": Row(recording.a_recording, answers=PAGE),
    "show_report_page": Row(states.a_shared_report, answers=PAGE),
    "get_recording_chunk": Row(recording.a_recording, answers="application/octet-stream"),
    "submit_session": Row(states.a_sitting),
    "get_room": Row(states.a_joined_room),
    "join_room": Row(states.a_room, {"name": "Ada Lovelace", "consent_accepted": True}),
    "list_room_events": Row(states.a_joined_room, query={"after": "1"}),
    "post_room_message": Row(
        states.a_joined_room, {"content": "Hello", "id": "0195a3c2-7b1e-7c44-9d0a-3f2b8e6a1c55"}, status=201
    ),
    "save_room_code": Row(
        states.a_joined_room, {"code": CODE, "language": "python", "question_id": "{question_id}"}
    ),
    "save_whiteboard": Row(states.a_joined_room, {"strokes": [STROKE]}),
    "show_room_question": Row(states.a_joined_room_inside, {"question_id": "{question_id}"}),
    "settle_room": Row(
        states.a_joined_room_inside,
        {
            "recommendation": "advance",
            "comment": "Solid.",
            "name": "Grace Hopper",
            "criteria": [{"name": "Technical skill", "score": 4.5}],
        },
    ),
    "run_room_code": Row(states.a_joined_room, {"code": CODE, "language": "python", "input": "42"}),
    "report_room_violation": Row(states.a_joined_room, {"violation_type": "focus_loss"}, status=201),
    "end_room": Row(states.a_joined_room),
    "open_live_channel": Row(states.a_joined_room, query={"after": "1"}),
    "send_live_changes": Row(
        states.a_joined_room, {"updates": ["AQEBAAQBBGNvZGUFaGVsbG8A"], "cursor": "AAEC"}
    ),
    "get_shared_replay": Row(states.a_shared_room),
    "show_interview_page": Row(states.a_room, answers=PAGE),
    "show_shared_interview_page": Row(states.a_shared_room, answers=PAGE),
    "get_own_application": Row(states.an_own_application),
    "correct_own_application": Row(states.an_own_application, CORRECTED, media=MULTIPART, files=CV),
    "withdraw_own_application": Row(states.an_own_application),
    "request_erasure": Row(states.an_own_application),
    "show_application_page": Row(
        states.an_own_application, query={"step": "correct", "done": "correct"}, answers=PAGE
    ),
    "change_on_application_page": Row(
        states.an_own_application,
        {"step": "correct", **CORRECTED},
        status=303,
        media=MULTIPART,
        files=CV,
        answers=None,
    ),
    "list_open_jobs": Row(states.an_open_job, query=LOOKING),
    "get_open_job": Row(states.an_open_job),
    "apply_for_job": Row(states.an_open_job, STRANGER, status=201, media=MULTIPART, files=CV),
    "get_logo": Row(
        states.a_branded_career,
        answers="image/png",
        also=(
            Row(states.a_career_with_a_jpeg, answers="image/jpeg"),
            Row(states.a_career_with_a_webp, answers="image/webp"),
        ),
    ),
    "get_brand_style": Row(states.a_branded_career, answers="text/css"),
    "show_careers_page": Row(states.an_open_job, query=LOOKING | WORDS, answers=PAGE, also=(SMALL,)),
    "show_embedded_jobs": Row(states.an_open_job, query=LOOKING | WORDS, answers=PAGE, also=(SMALL,)),
    "show_applied_page": Row(states.an_open_job, query=WORDS, answers=PAGE, also=(SMALL,)),
    "show_job_page": Row(states.an_open_job, query=WORDS, answers=PAGE, also=(SMALL,)),
    "apply_on_page": Row(
        states.an_open_job,
        {"email": "{email}", "full_name": "Ada Lovelace", "consent_accepted": True, **WORDS},
        status=303,
        media=MULTIPART,
        files=CV,
        answers=None,
    ),
    "show_join_page": Row(states.a_member_invite, answers=PAGE),
    "join_on_page": Row(states.a_member_invite, {"name": "Ada Lovelace"}, media=FORM, answers=PAGE),
    "show_take_page": Row(states.an_invitation, answers=PAGE),
    "show_home_page": Row(answers=PAGE),
    "show_reference": Row(answers=PAGE),
    "show_guides": Row(answers=PAGE),
    "show_guide": Row(lambda api: {"name": "quickstart"}, answers=PAGE),
    "show_error_page": Row(lambda api: {"code": "NOT_FOUND"}, answers=PAGE),
    "show_api_changelog": Row(answers=PAGE),
    "get_document_json": Row(),
    "get_document_yaml": Row(answers="application/yaml"),
    "get_document_twin": Row(),
    "get_robots": Row(answers="text/plain"),
    "get_sitemap": Row(answers="application/xml"),
    "get_health": Row(),
    "get_readiness": Row(),
}
