"""The test world, which is asked by test keys alone."""

from tests.operations import states
from tests.operations.rows import Row

ROWS = {
    "get_test_clock": Row(),
    "advance_test_clock": Row(
        states.an_invitation, {"seconds": 3600}, also=(Row(states.an_invitation, {"to": "next_due"}),)
    ),
    "take_test_invitation": Row(
        states.an_invitation,
        {
            "outcome": "pass",
            "minutes": 1,
            "violations": ["focus_loss"],
            "answers": [{"case_order": 1, "answer": "By its index."}],
        },
        also=(Row(states.an_invitation, {"score": 50}),),
    ),
    "make_test_applications": Row(
        states.an_open_job, {"count": 2, "quality": "mixed", "seed": 7}, status=201
    ),
    "answer_test_offer": Row(states.a_sent_offer, {"reply": "decline", "reason": "Another offer."}),
    "play_test_interview": Row(states.an_interview, {"minutes": 1, "recommendation": "advance"}),
    "send_test_event": Row(body={"type": "invitation.expired"}),
    "reset_test_mode": Row(states.an_invitation),
    "create_test_inbox": Row(
        body={
            "name": "Sync",
            "answers": [{"status": 503, "delay_seconds": 1, "retry_after_seconds": 60}, {"status": 200}],
        },
        status=201,
    ),
    "get_test_inbox": Row(states.an_inbox),
    "list_test_mails": Row(states.a_mail, query={"to": "{email}"}),
}
