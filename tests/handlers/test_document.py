"""The contract as it is published."""

import json
import re

import jsonschema
import pytest
import yaml
from starlette.testclient import TestClient

from rules.events import EVENTS
from schemas import document, reference
from tests.document.twin import twin
from tests.documents import operations

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
    for name in re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text):
        assert http.get(name).status_code == 200, name
    assert http.get("/static/../../etc/passwd").status_code == 404


def test_the_reference_lists_every_operation_before_its_script_has_begun(http: TestClient) -> None:
    page = http.get("/docs/").text
    for operation in operations("openapi").values():
        assert f'/{operation.id}"' in page


def test_the_reference_is_filled_in_with_a_test_key_that_was_set_and_with_no_live_one(
    http: TestClient,
) -> None:
    assert 'value=""' in http.get("/docs/").text
    try:
        reference.configure("ct_test_of_a_demo")
        page = http.get("/docs/")
        assert 'value="ct_test_of_a_demo"' in page.text
        assert page.headers["Cache-Control"] == "no-store"
        reference.configure("ct_live_of_somebody")
        assert "ct_live" not in http.get("/docs/").text
    finally:
        reference.configure("")
