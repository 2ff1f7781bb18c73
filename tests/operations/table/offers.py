"""Offers, and their candidates' side."""

from tests.operations import states
from tests.operations.rows import FORM, Row
from tests.operations.table.assessments import LONG_AGO

PAGE = "text/html"
OFFER = {
    "title": "Senior engineer at Northwind",
    "body_html": "<p>Dear Ada,</p><p>we would like you to <b>join us</b>.</p>",
    "compensation_text": "EUR 84,000 a year",
    "start_date": "2031-01-02",
    "expires_at": "2031-01-01T12:00:00.000Z",
    "scheduled_send_at": "2030-12-01T08:00:00.000Z",
}

ROWS = {
    "list_offers": Row(
        states.a_sent_offer,
        query={
            "status": "sent",
            "application_id": "{application_id}",
            "job": "{job_slug}",
            "updated_after": LONG_AGO,
        },
    ),
    "create_offer": Row(states.an_application, {"application_id": "{application_id}", **OFFER}, status=201),
    "get_offer": Row(states.a_sent_offer),
    "update_offer": Row(states.an_offer, OFFER),
    "send_offer": Row(states.an_offer),
    "withdraw_offer": Row(states.a_sent_offer),
    "download_offer_pdf": Row(states.an_offer, answers="application/pdf"),
    "get_offer_letter": Row(states.a_sent_offer),
    "accept_offer": Row(states.a_sent_offer),
    "show_offer_page": Row(states.a_sent_offer, query={"answer": "accept"}, answers=PAGE),
    "answer_on_offer_page": Row(
        states.a_sent_offer,
        {"answer": "decline", "reason": "I have accepted another offer."},
        media=FORM,
        answers=PAGE,
    ),
    "decline_offer": Row(states.a_sent_offer, {"reason": "I have accepted another offer."}),
}
