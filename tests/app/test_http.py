"""Methods, paths and queries: whatever is wrong with them is told in the contract's envelope."""

from typing import Any

import orjson
import pytest
from starlette.testclient import TestClient

from tests import asgi
from tests.api import Api, tenant
from tests.documents import Documented, operations
from tests.operations.rows import FORM, JSON, MULTIPART
from tests.probes import EVERY, WITH_ENVELOPE, body_schema, faults, media_types, parameters, path, refusal

METHODS = (
    "GET",
    "HEAD",
    "OPTIONS",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "TRACE",
    "CONNECT",
    "PROPFIND",
    "FROBNICATE",
)
PATHS = sorted({one.path for one in EVERY})
REQUEST_ID = "a-request-id-of-mine.1"


def ask(client: Api, method: str, at: str, **options):
    return client.request(method, at, follow_redirects=False, **options)


def of_its_kind(operation: Documented) -> dict[str, Any]:
    """A body of the media type that an operation takes, where it takes one alone."""
    files = "requestBody" in operation.definition and media_types(operation) == [MULTIPART]
    return {"files": {"file": b""}} if files else {}


def allowed(at: str) -> set[str]:
    methods = {one.method for one in EVERY if one.path == at}
    return methods | {"OPTIONS"} | ({"HEAD"} if "GET" in methods else set())


def example_path(at: str) -> str:
    return path(next(one for one in EVERY if one.path == at))


# --- Methods


@pytest.mark.parametrize("at", PATHS)
def test_a_path_takes_its_methods_and_says_which(client: Api, at: str) -> None:
    for method in METHODS:
        response = ask(client, method, example_path(at), headers={"X-Request-Id": REQUEST_ID})
        assert response.headers["X-Request-Id"] == REQUEST_ID
        if method == "OPTIONS":
            assert (response.status_code, response.content) == (204, b"")
        elif method not in allowed(at):
            assert response.status_code == 405
            # People come here: what they did wrong is told on a page.
            if at.startswith(
                (
                    "/application/",
                    "/area/",
                    "/careers/",
                    "/join/",
                    "/offer/",
                    "/interview/",
                    "/recordings/",
                    "/report/",
                )
            ):
                assert response.headers["content-type"].startswith("text/html")
            elif method != "HEAD":
                refusal(response, 405, "METHOD_NOT_ALLOWED")
        else:
            assert response.status_code != 405
            continue
        assert set(response.headers["Allow"].split(", ")) == allowed(at)


@pytest.mark.parametrize("operation", [o for o in EVERY if o.method == "GET"], ids=lambda o: o.id)
def test_head_answers_as_get_does(client: Api, operation: Documented) -> None:
    got, head = (ask(client, method, path(operation)) for method in ("GET", "HEAD"))
    assert (head.status_code, head.headers.get("content-type")) == (
        got.status_code,
        got.headers.get("content-type"),
    )


def test_a_read_by_head_counts_as_a_read(http: TestClient) -> None:
    api = tenant(http).live
    api.checked = False
    first, second = api.get("/org/"), api.request("HEAD", "/org/")
    left = [int(one.headers["X-RateLimit-Remaining"]) for one in (first, second)]
    assert left[1] == left[0] - 1


@pytest.mark.parametrize("last", ["", "/"])
def test_a_literal_path_is_no_parameter(client: Api, last: str) -> None:
    for at in PATHS:
        siblings = [one for one in PATHS if "{" in one and one.count("/") == at.count("/")]
        if "{" in at or not siblings:
            continue
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - allowed(at):
            refused = ask(client, method, at.rstrip("/") + last, headers={"Accept": "application/json"})
            refusal(refused, 405, "METHOD_NOT_ALLOWED")


# --- Paths


@pytest.mark.parametrize("operation", EVERY, ids=lambda o: o.id)
def test_a_last_slash_makes_no_difference_and_no_redirect(client: Api, operation: Documented) -> None:
    at = path(operation)
    other = at.rstrip("/") if at.endswith("/") else at + "/"
    first, second = (ask(client, operation.method, one) for one in (at, other))
    assert first.status_code == second.status_code
    # A page that leads to another leads there with its slash or without, and never to itself.
    assert first.status_code // 100 in (2, 4) or first.headers["Location"].partition("?")[0] not in (
        at,
        other,
    )


@pytest.mark.parametrize(
    "at",
    [
        "/api", "/api/v1/public", "/api/v1/public/", "/api/v1/public/nothing/", "/api/v2/public/org/",
        "//", "//api/v1/public/org/", "/api//v1/public/org/", "/api/v1/public/org//", "/api/v1/public//org/",
        "/api/v1/public/assessments//update/", "/api/v1/public/org/%00", "/api/v1/public/%00org/",
        "/api/v1/public/org%2F", "/api/v1/public%2Forg/", "/api/v1/public/assessments%2Fcreate/",
        "/api/v1/public/assessments/a%2Fb/", "/api/v1/public/assessments/a%2fcases/", "/api/v1/public/org/../org/",
        "/api/v1/public/./org/", "/api/v1/public/%2e%2e/org/", "/api/v1/public/{slug}/", "/api/v1/public/org/%ff/",
        "/api/v1/public/assessments/x/y/z/", "/take/", "/take/a/b", "/static//etc/passwd", "/static/%00",
        "/" + "a" * 100_000,
        "/api/v1/public/" + "a/" * 50_000,
    ],
    ids=lambda at: at[:50] or "empty",
)  # fmt: skip
def test_what_no_document_knows_is_not_found(http: TestClient, at: str) -> None:
    for method in ("GET", "POST", "HEAD", "OPTIONS", "FROBNICATE"):
        answer = asgi.send(http, method, at)
        assert (answer.status, answer.headers["content-type"]) == (404, "application/json"), method
        if method == "HEAD":
            assert answer.body == b""
            continue
        error = orjson.loads(answer.body)["error"]
        assert error["code"] == "NOT_FOUND"
        assert error["details"]["request_id"] == answer.headers["x-request-id"]


def test_static_files_can_be_read_and_nothing_else(http: TestClient) -> None:
    for name in (
        "",
        "nothing.css",
        "../app/http/application.py",
        "%2e%2e/app/http/application.py",
        "..%5capp%5cmain.py",
        "a" * 5_000,
    ):
        assert asgi.send(http, "GET", f"/static/{name}").status == 404, name
    for method in ("POST", "DELETE", "TRACE"):
        answer = asgi.send(http, method, "/static/style.css")
        assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
        assert answer.headers["content-type"] == "application/json"


BAD_IDS = ("nope", "1", "-1", "{0}", "null", "%20", "%C3%A9", "%EF%BC%91", "%ff", "%ED%A0%80", "a'b", "%25",
"a" * 5_000,
           "..%20", "019a9b1e-7c1d-7a42-9f4e-5d0c8a3b2f0", "{019a9b1e-7c1d-7a42-9f4e-5d0c8a3b2f02}", "%F0%9F%A6%84",
           "019a9b1e7c1d7a429f4e5d0c8a3b2f02", "019A9B1E-7C1D-7A42-9F4E-5D0C8A3B2F0G", "x;y=1", "a+b")  # fmt: skip
CONTROLS = ("%0A", "a%0A", "%7F", "%01")


@pytest.mark.parametrize(
    ("operation", "name", "format"),
    [(o, p["name"], p["schema"].get("format")) for o in WITH_ENVELOPE for p in parameters(o, "path")],
    ids=lambda value: getattr(value, "id", value),
)
def test_a_bad_id_is_refused(client: Api, operation: Documented, name: str, format: str | None) -> None:
    for bad in BAD_IDS + CONTROLS:
        at = path(operation, **{name: "\x01"}).replace("\x01", bad)
        response = ask(client, operation.method, at, **of_its_kind(operation))
        if format == "uuid" and bad not in CONTROLS:
            assert f"/path/{name}" in faults(response)
        else:
            refusal(response, (400, 404))


# --- Queries

LISTS = [
    one for one in operations("openapi").values() if any(p["name"] == "page_size" for p in one.parameters)
]
QUERIED = [(o, p) for o in WITH_ENVELOPE for p in parameters(o, "query")]
queried = pytest.mark.parametrize(
    ("operation", "parameter"), QUERIED, ids=lambda v: getattr(v, "id", None) or v["name"]
)


@pytest.mark.parametrize("operation", LISTS, ids=lambda o: o.id)
def test_a_page_size_is_a_whole_number_from_1_to_100(client: Api, operation: Documented) -> None:
    for bad in ("0", "-1", "101", "9" * 30, "9" * 5_000, "1e3", "5.0", "NaN", "Infinity", "0x10", "1_0", "", "%20",
                "%D9%A3", "true", "null", "%205", "5%0A", "%2B5", "5,6", "+5"):  # fmt: skip
        response = ask(client, "GET", f"{path(operation)}?page_size={bad}")
        assert "/query/page_size" in faults(response), bad


@queried
def test_a_parameter_that_is_no_text_is_refused(client: Api, operation: Documented, parameter: dict) -> None:
    at, name = path(operation), parameter["name"]
    for bad in ("%00", "a%00b", "%ff", "%ED%A0%80", "%C3"):
        found = faults(ask(client, operation.method, f"{at}?{name}={bad}"))
        assert set(found) & {f"/query/{name}", "/query"}, bad
    assert f"/query/{name}" in faults(ask(client, operation.method, f"{at}?{name}=1&{name}=1"))
    for odd in ("%zz", "%", "%u0041", "a&b", "a;b", "=", "+", "%F0%9F%A6%84", "'", '"', "\\", "(", "*", "--"):
        response = ask(client, operation.method, f"{at}?{name}={odd}")
        assert response.status_code in (200, 400, 403, 404), odd
        assert response.status_code == 200 or refusal(response, (400, 403, 404))


@queried
def test_a_parameter_that_is_too_long_is_refused(client: Api, operation: Documented, parameter: dict) -> None:
    response = ask(client, operation.method, f"{path(operation)}?{parameter['name']}={'x' * 20_000}")
    assert f"/query/{parameter['name']}" in faults(response)


@pytest.mark.parametrize("operation", WITH_ENVELOPE, ids=lambda o: o.id)
def test_an_unknown_parameter_is_refused_by_name(client: Api, operation: Documented) -> None:
    def found(query: str) -> dict[str, str]:
        at = f"{path(operation)}?{query}"
        return faults(ask(client, operation.method, at, **of_its_kind(operation)))

    assert found("pagesize=1")["/query/pagesize"].startswith("Unknown parameter.")
    assert "/query/a\ufffdb" in found("a%00b=1")
    assert "/query" in found("%ff=1")
    assert found("&".join(f"a{n}=1" for n in range(200)))
    assert found(f"{'b' * 20_000}=1")


def test_the_name_that_was_meant_is_named(client: Api) -> None:
    found = faults(ask(client, "GET", "/api/v1/public/assessments/?page_sise=5&serch=x"))
    assert "'page_size'" in found["/query/page_sise"]
    assert "'search'" in found["/query/serch"]


CURSORS = ["x", "é", "[]", "WyJuIiwgdHJ1ZV0", "bm90IGpzb24", "W10", "e30", "WyJ4IiwxXQ", "WyJuIiwxZTk5OV0", "====",
           "WyJuIiwiYVx1MDAwMGIiXQ", "WyJuIl0", "WyJuIixudWxsXQ", "WyJuIixbXV0", "WyJuIiwtMV0", "bnVsbA", "Im4i",
           "WyJuIiwxLDJd", "WyJuIix0cnVlLCIwMTlhOWIxZS03YzFkLTdhNDItOWY0ZS01ZDBjOGEzYjJmMDIiXQ",
           "W1tbW1tbW1tbW1tb" * 60,
           "WyJuIiw5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTldIA", "WyJuIiw5MjIzMzcyMDM2ODU0Nzc1ODA3XQ"]  # fmt: skip


@pytest.mark.parametrize("operation", [o for o in LISTS if "{" not in o.path], ids=lambda o: o.id)
def test_a_cursor_that_the_list_did_not_make_is_refused(client: Api, operation: Documented) -> None:
    for cursor in CURSORS:
        response = ask(client, "GET", path(operation), params={"cursor": cursor})
        if response.status_code != 200:  # a whole number is a place in the catalogue, whoever wrote it
            assert "/query/cursor" in faults(response), cursor


# --- Headers


@pytest.mark.parametrize(
    "given", ["short", "x" * 65, "with space in it", "semi;colon.....", "ünïcödé-request"]
)
def test_a_request_id_of_ours_stands_in_for_a_bad_one(client: Api, given: str) -> None:
    response = ask(client, "GET", "/api/v1/public/org/", headers={"X-Request-Id": given.encode()})
    assert response.headers["X-Request-Id"].startswith("req_")


def test_headers_of_any_length_and_kind_do_no_harm(client: Api) -> None:
    odd = {"Accept": "text/nothing", "Cookie": "a" * 50_000, "X-Odd": b"\xff\xfe", "Range": "bytes=0-0",
    "If-Match": "*",
           "Expect": "nothing", "Accept-Encoding": "nothing", "X-HTTP-Method-Override": "DELETE", "Origin": "null",
           "Host": "[", "X-Forwarded-For": "'; DROP TABLE", "Content-Type": "nothing",
           "Content-Length": "0"}  # fmt: skip
    for name, value in odd.items():
        response = ask(client, "GET", "/api/v1/public/org/", headers={name: value})
        assert (response.status_code, response.headers["content-type"]) == (200, "application/json"), name


TAKES_NOTHING = [
    one
    for one in WITH_ENVELOPE
    if "requestBody" not in one.definition
    and one.definition.get("x-lane") != "none"
    and not any(parameter.get("required") for parameter in parameters(one, "query"))
]


@pytest.mark.parametrize("operation", TAKES_NOTHING, ids=lambda one: one.id)
def test_an_operation_that_takes_nothing_says_so_of_what_it_is_sent(
    client: Api, operation: Documented
) -> None:
    answer = ask(client, operation.method, path(operation), json={"colour": "blue"})
    assert faults(answer) == {"/colour": "Unknown field. This operation takes none."}
    for nothing in (b"", b"{}", b"null", b"x"):
        answer = ask(client, operation.method, path(operation), content=nothing)
        assert answer.status_code == 404 or answer.is_success or operation.of_tests_alone


SHOWN_TO_ALL = [
    one for one in EVERY if one.is_page and one.method == "GET" and one.definition.get("security") == []
]


@pytest.mark.parametrize("operation", SHOWN_TO_ALL, ids=lambda one: one.id)
def test_a_page_takes_nothing_either(client: Api, operation: Documented) -> None:
    answer = ask(client, "GET", path(operation), json={"colour": "blue"})
    assert answer.status_code == 400
    assert "400" in operation.definition["responses"]


def test_the_documents_say_what_bodies_operations_take() -> None:
    for operation in EVERY:
        if "requestBody" in operation.definition and operation in WITH_ENVELOPE:
            schema = body_schema(operation)
            assert schema["additionalProperties"] is False, operation.id
            # A file that has to be there fits into one kind of body alone.
            files = any(
                schema["properties"][one].get("format") == "binary" for one in schema.get("required", ())
            )
            assert media_types(operation) == [MULTIPART] if files else [JSON, FORM, MULTIPART], operation.id
