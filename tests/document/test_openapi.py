"""Both documents are OpenAPI 3.0 in Connexion's own eyes, defaults included: it is told not to look at each start."""

import json
import pkgutil
from typing import Any

import pytest
from connexion.spec import create_spec_validator
from jsonschema import ValidationError

from schemas import document

SCHEMA = json.loads(pkgutil.get_data("connexion", "resources/schemas/v3.0/schema.json") or b"")


def check(spec: dict[str, Any]) -> None:
    create_spec_validator(spec)(SCHEMA).validate(spec)


@pytest.mark.parametrize("name", document.NAMES)
def test_the_document_is_openapi(name: str) -> None:
    check(document.read(name))


@pytest.mark.parametrize(
    "wrong", [{"parameters": [{"in": "query"}]}, {"responses": {"200": "fine"}}], ids=["parameter", "answer"]
)
def test_what_is_no_openapi_is_found(wrong: dict[str, Any]) -> None:
    spec = document.read("openapi")
    spec["paths"]["/org/"]["get"] |= wrong
    with pytest.raises(ValidationError):
        check(spec)
