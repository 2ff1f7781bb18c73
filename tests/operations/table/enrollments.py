"""Enrollments and their notes."""

from tests.operations import states
from tests.operations.rows import Row
from tests.operations.table.assessments import LONG_AGO

PERSON = {"email": "{email}", "name": "Ada Lovelace", "send_email": True}

ROWS = {
    "list_enrollments": Row(states.an_enrollment, query={"status": "active", "updated_after": LONG_AGO}),
    "get_enrollment": Row(states.an_enrollment),
    "enroll_candidate": Row(
        states.an_enrollment, PERSON, status=201, also=(Row(states.an_enrollment, {"email": "{person}"}),)
    ),
    "bulk_enroll": Row(
        states.an_enrollment,
        {"candidates": [{"email": "{email}", "name": "Ada"}], "send_email": False},
        status=201,
    ),
    "advance_enrollment": Row(states.an_enrollment),
    "reject_enrollment": Row(states.an_enrollment, {"reason": "Another was ahead."}),
    "hold_enrollment": Row(states.an_enrollment),
    "unhold_enrollment": Row(states.an_enrollment_after("hold")),
    "list_enrollment_notes": Row(states.a_note_of_an_enrollment),
    "create_enrollment_note": Row(states.an_enrollment, {"body": "Asked for a later start."}, status=201),
}
