"""The contract as it is published."""

import json

import jsonschema
import pytest
import yaml
from starlette.testclient import TestClient

from rules.events import EVENTS
from schemas import document
from tests.document.twin import twin

BASE = "/api/v1/public"


@pytest.mark.parametrize("path", ["/openapi.json", "/openapi.yaml", "/openapi-3.1.json"])
def test_the_document_needs_no_key_and_is_cached_by_its_mark(http: TestClient, path: str) -> None:
    first = http.get(BASE + path)
    assert first.status_code == 200
    assert first.headers["Cache-Control"] == "public, max-age=300"
    again = http.get(BASE + path, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_yaml_and_the_json_say_the_same(http: TestClient) -> None:
    written = yaml.safe_load(http.get(f"{BASE}/openapi.yaml").content)
    published = json.loads((document.PUBLISHED / "openapi.json").read_bytes())
    assert http.get(f"{BASE}/openapi.json").json() == written == published


def test_the_twin_is_valid_and_has_every_event(http: TestClient) -> None:
    served = http.get(f"{BASE}/openapi-3.1.json").json()
    assert served["openapi"] == "3.1.0"
    assert set(served["webhooks"]) == set(EVENTS)
    assert "nullable" not in str(served["components"]["schemas"])
    for event, hook in served["webhooks"].items():
        content = hook["post"]["requestBody"]["content"]["application/json"]
        schema = {**content["schema"], "components": served["components"]}
        example = content["examples"]["delivery"]["value"]
        assert example["type"] == event
        jsonschema.Draft202012Validator(schema).validate(example)


def test_a_nullable_type_becomes_two_types() -> None:
    schema = {"type": "string", "nullable": True, "enum": ["a"]}
    written = twin({"components": {"schemas": {"A": schema}}})["components"]["schemas"]["A"]
    assert written == {"type": ["string", "null"], "enum": ["a", None]}


def test_the_reference_comes_from_this_host_alone(http: TestClient) -> None:
    page = http.get("/docs")
    assert page.status_code == 200
    assert "default-src 'self'" in page.headers["Content-Security-Policy"]
    assert "//" not in page.text.replace("<!doctype", "")
    for name in ("swagger-ui-bundle.js", "swagger-ui.css"):
        assert http.get(f"/static/reference/{name}").status_code == 200
    assert http.get("/static/reference/../../etc/passwd").status_code == 404
