"""Folders for instances, and a client for requests without number."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from app.http import limits
from rules.plans import EXTRA_CAPS, PLANS
from tests.api import Api, owner_session, tenant
from tests.app.instances import walkable

ENDLESS = 1_000_000


@dataclass
class Anything(Api):
    """A key, the test mode's before the test world, and before the area a session of the organisation's owner."""

    test_key: str | None = None

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        if path.startswith(("/api/v1/area", "/area")):
            options["headers"] = owner_session(self) | dict(options.get("headers") or {})
        if path.startswith("/api/v1/public/test/"):
            key = {"Authorization": f"Bearer {self.test_key}"}
            options["headers"] = key | dict(options.get("headers") or {})
        return super().request(method, path, **options)


@pytest.fixture(scope="module")
def client(http: TestClient) -> Iterator[Api]:
    """A client that asks for anything and believes nothing, without limits to how often."""
    limits.configure(ENDLESS)
    with pytest.MonkeyPatch.context() as patch:
        for cap in EXTRA_CAPS:
            patch.setitem(EXTRA_CAPS, cap, ENDLESS)
        patch.setitem(PLANS, "enterprise", replace(PLANS["enterprise"], reads=ENDLESS, writes=ENDLESS))
        owner = tenant(http, "enterprise")
        yield Anything(http, owner.live.key, base="", checked=False, test_key=owner.test.key)
    limits.configure(ENDLESS)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user can walk, unlike pytest's own."""
    with walkable() as made:
        yield made
