"""Requests made from the documents: for every operation one that would be fine, to spoil in one way at a time."""

from collections.abc import Iterator
from typing import Any

import httpx

from tests.documents import Documented, documents, operations

JSON = "application/json"
FLAT = "/api/v1/public/assistant/"
EVERY = [one for name in documents() for one in operations(name).values()]
# Pages are for people: what they take is a form, and what they refuse is a page too.
WITH_ENVELOPE = [one for one in EVERY if not one.is_page]
WITH_BODY = [one for one in WITH_ENVELOPE if "requestBody" in one.definition]
WITH_JSON = [one for one in WITH_BODY if JSON in one.definition["requestBody"]["content"]]


def path(operation: Documented, **replaced: str) -> str:
    """The operation's path with the document's own examples for parameters, which nothing has."""
    names = {one["name"]: str(one.get("example", "nothing")) for one in parameters(operation, "path")}
    return operation.path.format(**names | replaced)


def parameters(operation: Documented, where: str) -> list[dict[str, Any]]:
    return [one for one in operation.parameters if one["in"] == where]


def media_types(operation: Documented) -> list[str]:
    """What an operation's body may be sent in; JSON is the first where it is one of them."""
    return list(operation.definition["requestBody"]["content"])


def body_schema(operation: Documented) -> dict[str, Any]:
    """The schema of a body, which is the same for every media type."""
    content = operation.definition["requestBody"]["content"]
    return dict(content[media_types(operation)[0]]["schema"])


def examples(operation: Documented) -> list[Any]:
    content = operation.definition["requestBody"]["content"][JSON]
    return [example["value"] for example in content.get("examples", {}).values()]


def properties(schema: dict[str, Any], *kinds: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The properties of these types (a decimal is a number)."""
    for name, one in schema.get("properties", {}).items():
        kind = "number" if one.get("format") == "decimal" else one.get("type")
        if kind in kinds:
            yield name, one


def unfolded(response: httpx.Response) -> dict[str, Any]:
    """A flat refusal of the assistant in the form of all others: each line of its message is a detail."""
    flat = response.json()
    assert set(flat) == {"code", "message", "status"}, response.text
    assert flat["status"] == "error"
    message, *lines = flat["message"].split("\n")
    said = {whole(name): whole(value) for name, _, value in (line.partition(": ") for line in lines)}
    fields = [{"pointer": name, "message": value} for name, value in said.items() if name[:1] in ("", "/")]
    details: dict[str, Any] = {name: int(value) if value.isdigit() else value for name, value in said.items()}
    if "supported" in said:
        details["supported"] = said["supported"].split(", ")
    details |= {"request_id": response.headers["X-Request-Id"], **({"fields": fields} if fields else {})}
    return {"code": flat["code"], "message": message, "details": details}


def whole(text: str) -> str:
    """Take the escapes back that keep a detail in its line."""
    return text.replace("\\n", "\n").replace("\\\\", "\\")


def refusal(
    response: httpx.Response, status: int | tuple[int, ...], code: str | None = None
) -> dict[str, Any]:
    """The error of a refusal that has the contract's envelope."""
    statuses = (status,) if isinstance(status, int) else status
    about = f"{response.request.method} {response.request.url!s:.200}: {response.status_code} {response.text:.500}"
    assert response.status_code in statuses, about
    assert response.headers["content-type"] == JSON, about
    assert not response.history
    error = unfolded(response) if response.request.url.path.startswith(FLAT) else response.json()["error"]
    assert set(error) == {"code", "message", "details"}, about
    assert error["message"]
    assert error["details"]["request_id"] == response.headers["X-Request-Id"]
    assert code is None or error["code"] == code, about
    return dict(error)


def faults(response: httpx.Response) -> dict[str, str]:
    """What a 400 finds fault with, by place."""
    fields = refusal(response, 400, "VALIDATION_ERROR")["details"]["fields"]
    assert fields
    assert all(set(one) == {"pointer", "message"} and one["message"] for one in fields)
    return {one["pointer"]: one["message"] for one in fields}
