"""A hiring year: every event of twelve months is the one that a model foretells."""

from typing import Any

from rules.clock import iso, now
from tests import api as apis
from tests.api import Api
from tests.operations import states

DAY = 86_400
MONTH = 30 * DAY


def did(answer: Any) -> Any:
    assert answer.is_success, answer.text
    return answer.json()


def advance(api: Api, seconds: int) -> list[str]:
    """Let time pass, in as many requests as it takes."""
    happened: list[str] = []
    while seconds:
        moved = did(api.post("/test/clock/advance/", {"seconds": seconds}))
        happened += [one["kind"] for one in moved["happened"]]
        seconds = moved["remaining_seconds"]
    return happened


class Feed:
    """The event feed, read as far as it goes each time."""

    def __init__(self, api: Api) -> None:
        self.api, self.after = api, 0

    def read(self) -> list[str]:
        found: list[str] = []
        while page := did(self.api.get("/events/", params={"after": self.after, "page_size": 100}))[
            "results"
        ]:
            self.after = page[-1]["sequence"]
            found += [one["type"] for one in page]
        return found


def test_a_year_passes_and_every_event_is_foretold(http: Any) -> None:
    api = apis.tenant(http, "enterprise").test
    # An endpoint that is dead from its first delivery on, and one that lives.
    dead, alive = (
        did(api.post("/test/inboxes/", {"answers": answers}))
        for answers in ([{"status": 200}, {"status": 500}], [])
    )
    hooks = [
        did(api.post("/webhooks/create/", {"url": one["url"], "events": ["*"]})) for one in (dead, alive)
    ]
    for hook in hooks:
        did(api.post(f"/webhooks/{hook['id']}/test/"))
    feed, model, told, delivered = Feed(api), [], [], 1
    switched: list[str] = []
    slug = states.an_assessment(api, states.CHOICE)["slug"]
    for _ in range(12):
        # One takes it, one lets it expire; a reminder a day apart; an offer that nobody answers.
        taken, left = (api.invitation(slug, expires_days=7)["invite_token"] for _ in range(2))
        did(api.post(f"/test/invites/{taken}/take/", {"outcome": "pass"}))
        foretold = ["invitation.created"] * 2
        foretold += ["assessment.started", "assessment.completed", "candidate.passed"]
        did(api.post(f"/invites/{left}/remind/"))
        switched += advance(api, DAY)
        heard = feed.read()  # before what is a month old is forgotten
        did(api.post(f"/invites/{left}/remind/"))
        job = api.job(scheduled_publish_at=iso(now().fromtimestamp(now().timestamp() + DAY, now().tzinfo)))
        foretold += ["job.created"]
        switched += advance(api, 2 * DAY)
        heard += feed.read()
        foretold += ["job.published"]
        application = api.application(job["slug"])
        foretold += ["application.submitted"]
        letter = {"title": "Engineer", "body_html": "<p>Welcome.</p>"}
        letter["expires_at"] = iso(now().fromtimestamp(now().timestamp() + 14 * DAY, now().tzinfo))
        offer = did(api.post("/offers/", {"application_id": application["id"], **letter}))
        did(api.post(f"/offers/{offer['id']}/send/"))
        foretold += ["offer.sent", "application.screened", "invitation.expired", "offer.expired"]
        switched += advance(api, MONTH - 3 * DAY)
        told += sorted(heard + feed.read())
        model += sorted(foretold)
        delivered += len(foretold)
    assert told == model
    assert did(api.get("/test/clock/"))["advanced_seconds"] == 12 * MONTH
    assert did(api.get(f"/test/inboxes/{alive['id']}/"))["received_count"] == delivered
    assert switched.count("webhook.disabled") == 1
    assert not did(api.get(f"/webhooks/{hooks[0]['id']}/"))["is_active"]
