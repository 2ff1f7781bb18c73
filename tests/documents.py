"""The published documents, and whether an answer keeps to them."""

import functools
from dataclasses import dataclass
from typing import Any

import httpx
import jsonschema_rs
from connexion.spec import Specification

from app.http.formats import CHECKS
from app.http.paths import METHODS, Tree
from app.http.schema import draft4
from schemas import document


@dataclass(frozen=True)
class Documented:
    """One operation as the document has it, references resolved."""

    path: str  # with the server's base
    method: str
    definition: dict[str, Any]
    shared_parameters: list[dict[str, Any]]

    @property
    def id(self) -> str:
        return str(self.definition["operationId"])

    @property
    def parameters(self) -> list[dict[str, Any]]:
        return self.shared_parameters + self.definition.get("parameters", [])

    @property
    def of_tests_alone(self) -> bool:
        """Whether a live key is refused."""
        return self.definition.get("x-mode") == "test"

    @property
    def is_page(self) -> bool:
        """Whether it is for people: what it takes is a form, and what it refuses is a page too."""
        return any("text/html" in one.get("content", {}) for one in self.definition["responses"].values())

    @property
    def shows(self) -> bool:
        """Whether a page is what it succeeds with: not a file, nor the way to another one."""
        return "text/html" in self.definition["responses"].get("200", {}).get("content", {})

    @property
    def keyed(self) -> bool:
        """Whether it needs an API key, whatever the key's scopes are."""
        return any("bearer" in need for need in self.definition.get("security", []))

    @property
    def by_session(self) -> bool:
        """Whether it needs the session of a member."""
        return any({"session", "page"} & set(need) for need in self.definition.get("security", []))

    @property
    def scopes(self) -> list[str]:
        """The scopes of which a key needs one."""
        return [scope for need in self.definition.get("security", []) for scope in need.get("bearer", ())]

    @property
    def role_scopes(self) -> list[str]:
        """What a member's role has to include."""
        return [scope for need in self.definition.get("security", []) for scope in need.get("session", ())]


@functools.cache
def documents() -> dict[str, dict[str, Any]]:
    """Every document with their references resolved."""
    return {name: dict(Specification.load(document.read(name)).spec) for name in document.NAMES}


@functools.cache
def operations(name: str) -> dict[tuple[str, str], Documented]:
    """A document's operations by (method, path)."""
    spec = documents()[name]
    base = spec["servers"][0]["url"].rstrip("/")
    return {
        (method.upper(), base + path): Documented(
            base + path, method.upper(), item[method], item.get("parameters", [])
        )
        for path, item in spec["paths"].items()
        for method in METHODS
        if method in item
    }


@functools.cache
def _tree() -> Tree[None]:
    tree: Tree[None] = Tree()
    for name in documents():
        for method, path in operations(name):
            tree.add(path, method, None)
    return tree


def find(method: str, path: str) -> Documented | None:
    """The operation that a request is for."""
    found = _tree().find(path)
    if found is None:
        return None
    place = method.upper(), found.path
    return next((operations(name)[place] for name in documents() if place in operations(name)), None)


@functools.cache
def _validator(operation_id: str, status: str) -> jsonschema_rs.Draft4Validator:
    one = next(op for name in documents() for op in operations(name).values() if op.id == operation_id)
    schema = one.definition["responses"][status]["content"]["application/json"]["schema"]
    return jsonschema_rs.Draft4Validator(draft4(schema), validate_formats=True, formats=CHECKS)


def check(response: httpx.Response) -> None:
    """Fail where an answer is not one that the document promises."""
    request = response.request
    operation = find(request.method, request.url.path)
    assert response.status_code < 500, response.text
    assert response.headers["X-Request-Id"]
    if operation is None:
        assert response.status_code in (204, 404, 405), (
            f"{request.method} {request.url.path} is in no document"
        )
        return
    status = str(response.status_code)
    promised = operation.definition["responses"]
    assert status in promised, (
        f"{operation.id} answered {status}, which its document does not have: {response.text}"
    )
    if response.is_success and operation.keyed:
        for header in ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"):
            assert response.headers[header].isdigit(), f"{operation.id} lacks {header}"
    content = promised[status].get("content", {})
    if not content:
        assert response.content == b"", f"{operation.id} answers {status} with a body"
        return
    kind = response.headers["content-type"].partition(";")[0]
    assert kind in content, f"{operation.id} answered {kind}"
    if kind == "application/json":
        faults = list(_validator(operation.id, status).iter_errors(response.json()))
        assert not faults, f"{operation.id} {status}: {[(f.instance_path, f.message) for f in faults]}"
        is_file = "Content-Disposition" in response.headers
        if request.method == "GET" and response.is_success and operation.keyed and not is_file:
            assert "meta" in response.json(), f"{operation.id} answers without meta"
