"""An operation that is going to go says so with each answer, whichever way it was reached."""

import dataclasses
from typing import Any

import pytest

from app.http.application import create_app
from app.instance.settings import Settings
from schemas import document
from tests.api import Tenant
from tests.client import Client

DATES = {"deprecated": True, "x-deprecated-at": "2027-01-01", "x-sunset-at": "2028-01-01"}


@pytest.mark.parametrize("fast", [True, False])
def test_a_deprecated_operation_says_so_answered_or_refused_and_no_other_does(
    settings: Settings, tenant: Tenant, monkeypatch: pytest.MonkeyPatch, *, fast: bool
) -> None:
    read = document.read

    def marked(name: str) -> dict[str, Any]:
        spec = read(name)
        if name == "openapi":
            spec["paths"]["/key/"]["get"] |= DATES
        return spec

    monkeypatch.setattr(document, "read", marked)
    app = create_app(dataclasses.replace(settings, fast_path=fast))
    with Client(app, base_url=settings.base_url) as client:
        keyed = {"Authorization": f"Bearer {tenant.live.key}"}
        for headers, status in ((keyed, 200), ({}, 401)):
            answer = client.get("/api/v1/public/key/", headers=headers)
            assert answer.status_code == status
            assert answer.headers["Deprecation"] == "@1798761600"
            assert answer.headers["Sunset"] == "Sat, 01 Jan 2028 00:00:00 GMT"
            assert answer.headers["Link"].endswith('/docs/guides/versions/>; rel="deprecation"')
        assert "Deprecation" not in client.get("/api/v1/public/org/", headers=keyed).headers
