"""The key that a request carries, through the API."""

import json
from datetime import timedelta

from rules.clock import iso, now
from tests import asgi
from tests.api import Api, Tenant
from tests.probes import refusal


def test_a_key_reads_what_limits_it_and_whose_it_is(tenant: Tenant) -> None:
    end = now() + timedelta(days=30)
    key = tenant.key(livemode=False, scopes=["jobs:read"], cidrs=["192.0.2.0/24"], expires_at=end)
    answer = asgi.send(tenant.http, "GET", "/api/v1/public/key/", ("Authorization", f"Bearer {key.key}"))
    shown = json.loads(answer.body)
    meta = shown.pop("meta")
    assert meta["plan"] == "growth"
    assert shown.pop("id")
    assert shown == {
        "name": "extra",
        "livemode": False,
        "scopes": ["jobs:read"],
        "expires_at": iso(end),
        "cidrs": ["192.0.2.0/24"],
        "organisation": {
            "id": str(tenant.organisation.id),
            "slug": tenant.organisation.slug,
            "plan": "growth",
        },
    }


def test_no_answer_holds_the_key_itself(tenant: Tenant) -> None:
    assert tenant.live.key is not None
    answer = tenant.live.get("/key/")
    assert tenant.live.key not in answer.text
    assert answer.json()["livemode"] is True
    assert answer.json()["scopes"] == answer.json()["cidrs"] == []
    assert tenant.test.get("/key/").json()["id"] != answer.json()["id"]


def test_a_key_that_may_not_be_used_is_told_nothing(tenant: Tenant) -> None:
    assert tenant.key(scopes=["webhooks:read"]).get("/key/").status_code == 200
    refusal(tenant.key(cidrs=["203.0.113.0/24"]).get("/key/"), 403, "IP_NOT_ALLOWED")
    refusal(tenant.key(expires_at=now()).get("/key/"), 401, "EXPIRED_API_KEY")
    refusal(Api(tenant.http, None).get("/key/"), 401, "INVALID_API_KEY")
