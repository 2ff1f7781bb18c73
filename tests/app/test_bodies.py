"""Bodies: what cannot be read is refused with its reason, and the three encodings say the same."""

import gzip
import json
from typing import Any
from urllib.parse import urlencode

import httpx
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from app.http import bodies
from app.http.schema import Schema
from tests import asgi
from tests.api import Api, Tenant
from tests.documents import Documented
from tests.operations.rows import pairs
from tests.probes import (
    WITH_BODY,
    WITH_JSON,
    body_schema,
    examples,
    faults,
    media_types,
    path,
    properties,
    refusal,
)
from tests.values import values

FORM, MULTIPART = bodies.FORM, bodies.MULTIPART
with_json = pytest.mark.parametrize("operation", WITH_JSON, ids=lambda o: o.id)


def send(client: Api, operation: Documented, content: bytes, kind: str | None = bodies.JSON, **headers: str):
    if kind is not None:
        headers["Content-Type"] = kind
    return client.request(operation.method, path(operation), content=content, headers=headers)


# --- JSON that is none

UNREADABLE = {
    "not UTF-8": (b'{"a": "\xff"}', "UTF-8"),
    "UTF-16": ('{"a": "b"}'.encode("utf-16"), "UTF-8"),
    "a raw surrogate": (b'{"a": "\xed\xa0\x80"}', "UTF-8"),
    "truncated": (b'{"a": "b', "not JSON"),
    "an open object": (b'{"a": {"b": 1}', "not JSON"),
    "blank": (b" \n", "not JSON"),
    "two documents": (b"{}{}", "not JSON"),
    "a comment": (b"{} // nothing", "not JSON"),
    "a last comma": (b'{"a": 1,}', "not JSON"),
    "single quotes": (b"{'a': 1}", "not JSON"),
    "a bare name": (b"{a: 1}", "not JSON"),
    "a leading zero": (b'{"a": 01}', "not JSON"),
    "hexadecimal": (b'{"a": 0x10}', "not JSON"),
    "a raw control character": (b'{"a": "\x01"}', "not JSON"),
    "a raw NUL": (b'{"a": "\x00"}', "not JSON"),
    "a half escape": (b'{"a": "\\u00"}', "not JSON"),
    "NaN": (b'{"a": NaN}', "not JSON"),
    "Infinity": (b'{"a": Infinity}', "not JSON"),
    "-Infinity": (b'{"a": [-Infinity]}', "not JSON"),
    "a huge float": (b'{"a": 1e999}', "too large"),
    "a huge negative float": (b'{"a": -1e999}', "too large"),
    "a huge integer": (b'{"a": ' + b"9" * 5_000 + b"}", "too large"),
    "a name twice": (b'{"a": 1, "a": 1}', "stands twice"),
    "a name twice inside": (b'{"a": [{"b": 1, "b": 2}]}', "stands twice"),
    "a name twice in two spellings": (b'{"a": 1, "\\u0061": 1}', "stands twice"),
    "a NUL": (b'{"a": "\\u0000"}', "NUL"),
    "a NUL in a name": (b'{"a\\u0000": 1}', "NUL"),
    "a high surrogate": (b'{"a": "\\ud800"}', "surrogate"),
    "a low surrogate": (b'{"a": ["\\uDC00"]}', "surrogate"),
    "surrogates the wrong way round": (b'{"a": "\\udc00\\ud800"}', "surrogate"),
    "deep arrays": (b'{"a": ' + b"[" * 65 + b"]" * 65 + b"}", "nested"),
    "deep objects": (b'{"a":' * 65 + b"1" + b"}" * 65, "nested"),
    "very deep": (b"[" * 500_000, "nested"),
    "very deep and whole": (b"[" * 200_000 + b"]" * 200_000, "nested"),
}


@with_json
def test_json_that_cannot_be_read_is_refused_with_its_reason(client: Api, operation: Documented) -> None:
    for name, (content, reason) in UNREADABLE.items():
        found = faults(send(client, operation, content))
        assert reason in found[""], f"{name}: {found}"


WHOLE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(1 << 200), 1 << 200)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
    max_leaves=8,
)


@given(value=WHOLE)
def test_whatever_number_is_read_can_be_kept_and_is_the_same_or_next_to_it(value: Any) -> None:
    read = bodies.read_json(json.dumps({"a": value}).encode(), {})
    assert orjson.loads(orjson.dumps(read)) == orjson.loads(json.dumps({"a": value}))


@with_json
def test_json_that_is_no_object_is_refused(client: Api, operation: Documented) -> None:
    for content in (b"null", b"true", b"1", b'"text"', b"[]", b"[{}]", b"\xef\xbb\xbf1"):
        error = refusal(send(client, operation, content), 400, "VALIDATION_ERROR")
        assert {"pointer": "", "message": "Must be an object."} in error["details"]["fields"]


HUGE = ["1" + "0" * 400, "9" * 4_000, "1e308", "-1e308", "9223372036854775808", "18446744073709551616",
"-9223372036854775809",
        "100000000000000000000000000000000000000000", "2147483648e10", "1.5e300"]  # fmt: skip


@with_json
def test_a_number_beyond_bounds_is_refused_in_its_place(client: Api, operation: Documented) -> None:
    schema = body_schema(operation)
    for name, _ in properties(schema, "integer", "number"):
        for number in HUGE:
            found = faults(send(client, operation, f'{{"{name}": {number}}}'.encode()))
            assert f"/{name}" in found or "" in found, (name, number, found)
            assert f"/{name}" in faults(send(client, operation, f"{name}={number}".encode(), FORM))
    for name, _ in properties(schema, "integer"):
        for number in ("1.5", "1e0", "1.0", "true", '"1"', "-0.5", "[1]"):
            assert f"/{name}" in faults(send(client, operation, f'{{"{name}": {number}}}'.encode())), number
        for text in ("1.0", "1e1", " 1", "+1", "1_0", "%D9%A1", "0x1", "true", "NaN", "1%0A"):
            assert f"/{name}" in faults(send(client, operation, f"{name}={text}".encode(), FORM)), text


@with_json
def test_every_field_of_a_wrong_type_is_named_at_once(client: Api, operation: Documented) -> None:
    schema = body_schema(operation)
    typed = {name: one["type"] for name, one in schema["properties"].items() if "type" in one}
    # An object may hold anything, so nothing of that kind would be wrong of it.
    wrong = {name: "wrong" if type == "object" else {"wrong": [None]} for name, type in typed.items()}
    found = faults(send(client, operation, orjson.dumps(wrong)))
    assert {f"/{place.split('/')[1]}" for place in found if place} >= {f"/{name}" for name in typed}


@pytest.mark.parametrize(("at", "body", "pointer", "says"), [
    ("applications/create", {"email": ""}, "/email", "Must be an email address."),
    ("applications/create", {"email": "\n"}, "/email", "Must be an email address."),
    ("applications/create", {"full_name": ""}, "/full_name", "Must not be empty."),
    ("assessments/x/cases/attach", {"weight": "heavy"}, "/weight", "Must be a decimal number, such as 72.50."),
    ("assessments/x/cases/attach", {"weight": -1}, "/weight", "Must be at least 0."),
])  # fmt: skip
def test_a_bad_value_is_named_once_with_what_tells_most(
    tenant: Tenant, at: str, body: dict[str, Any], pointer: str, says: str
) -> None:
    found = tenant.live.post(f"/{at}/", body).json()["error"]["details"]["fields"]
    assert [one["message"] for one in found if one["pointer"] == pointer] == [says]
    assert len({one["pointer"] for one in found}) == len(found)


@with_json
def test_unknown_fields_are_refused_by_name_however_many(client: Api, operation: Documented) -> None:
    name = next(iter(body_schema(operation)["properties"]))
    found = faults(
        send(client, operation, orjson.dumps({f"{name}s": 1, "id": 1, "a/b~c": 1, "é\n": 1, "": 1}))
    )
    assert f"Did you mean '{name}'?" in found[f"/{name}s"]
    assert {"/id", "/a~1b~0c", "/é\n", "/"} <= set(found)
    count = 40_000 if operation is WITH_JSON[0] else 5_000  # all of them have one reader
    for many in ({f"{name}{n}": 0 for n in range(count)}, {"x" * 1_000_000: 1}):
        response = send(client, operation, orjson.dumps(many))
        assert faults(response)
        assert len(response.content) < 300_000


# --- Sizes


@pytest.mark.parametrize("kind", [bodies.JSON, FORM, MULTIPART + "; boundary=x"])
def test_a_body_that_is_too_large_is_refused_before_it_is_read(
    http: TestClient, client: Api, kind: str
) -> None:
    headers = [("Authorization", f"Bearer {client.key}"), ("Content-Type", kind)]
    largest = bodies.LARGEST[kind.partition(";")[0]]
    for declared in (str(largest + 1), "9" * 30, "9" * 5_000):
        answer = asgi.send(
            http, "POST", "/api/v1/public/assessments/create/", *headers, ("Content-Length", declared), body=[b"x"]
        )  # fmt: skip
        error = orjson.loads(answer.body)["error"]
        assert (answer.status, error["code"], error["details"]["limit_bytes"]) == (
            413,
            "BODY_TOO_LARGE",
            largest,
        )
        assert error["details"]["request_id"] == answer.headers["x-request-id"]
    for headers_too in (
        [],
        [("Transfer-Encoding", "chunked")],
        [("Content-Length", "5")],
        [("Content-Length", "x")],
    ):
        chunk = b"x" * 65_536
        answer = asgi.send(
            http, "POST", "/api/v1/public/assessments/create/", *headers, *headers_too,
            body=(chunk for _ in range(10_000)),
        )  # fmt: skip
        assert answer.status == 413
        if not headers_too:
            assert len(answer.messages) == 2


def test_a_multipart_body_without_a_file_weighs_no_more_than_a_form(client: Api) -> None:
    for fields in (
        {"title": "x" * (bodies.MEBIBYTE + 1)},
        dict.fromkeys("abc", "x" * (bodies.MEBIBYTE // 2)),
    ):
        parts = [(name, (None, text)) for name, text in fields.items()]
        answer = client.post("/api/v1/public/assessments/create/", files=parts)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (413, "BODY_TOO_LARGE")
        assert error["details"]["limit_bytes"] == bodies.MEBIBYTE
    many = [(f"f{number}", (None, "x")) for number in range(bodies.MOST_PARTS + 1)]
    assert "too many" in faults(client.post("/api/v1/public/assessments/create/", files=many))[""]


def test_no_more_is_read_of_a_body_than_it_may_weigh(http: TestClient, client: Api) -> None:
    for kind, largest in (
        (bodies.JSON, bodies.MEBIBYTE),
        (MULTIPART + "; boundary=x", bodies.LARGEST[MULTIPART]),
    ):
        wire = asgi.send(
            http, "POST", "/api/v1/public/assessments/create/", ("Authorization", f"Bearer {client.key}"),
            ("Content-Type", kind), body=(b"x" * 65_536 for _ in range(10_000)),
        )  # fmt: skip
        assert wire.status == 413
        assert wire.read <= largest // 65_536 + 1


def test_a_body_whose_sender_hangs_up_does_nothing(http: TestClient, tenant: Tenant) -> None:
    for kind, content in ((FORM, b"title=Half+a+ti"), (bodies.JSON, b'{"title": "Whole"}')):
        asgi.send(
            http, "POST", "/api/v1/public/assessments/create/", ("Authorization", f"Bearer {tenant.live.key}"),
            ("Content-Type", kind), ("Content-Length", "500"), body=[content], ends=False,
        )  # fmt: skip
    assert tenant.live.get("/assessments/").json()["results"] == []


def test_a_body_in_many_pieces_is_one_body(http: TestClient, client: Api) -> None:
    content = b'{"title": "In pieces"}'
    answer = asgi.send(
        http, "POST", "/api/v1/public/assessments/create/", ("Authorization", f"Bearer {client.key}"),
        ("Content-Type", "application/json"), body=[bytes([one]) for one in content],
    )  # fmt: skip
    assert (answer.status, orjson.loads(answer.body)["title"]) == (201, "In pieces")


# --- Content types


@pytest.mark.parametrize("operation", WITH_BODY, ids=lambda o: o.id)
def test_a_body_of_another_kind_is_refused(client: Api, operation: Documented) -> None:
    for kind in ("text/plain", "application/xml", "application/jsonp", "application/problem+json", "nonsense", "/", ";",
                 "application/", "multipart/mixed; boundary=x", "application/octet-stream", "text/json", "é/ü",
                 "application/json, text/plain", "a" * 20_000,
                 *{bodies.JSON, FORM} - set(media_types(operation))):  # fmt: skip
        response = client.request(
            operation.method, path(operation), content=b"{}", headers={"Content-Type": kind.encode()}
        )
        error = refusal(response, 415, "UNSUPPORTED_MEDIA_TYPE")
        assert error["details"]["supported"] == media_types(operation)


@with_json
def test_a_compressed_body_is_refused(client: Api, operation: Documented) -> None:
    for coding in ("gzip", "br", "deflate", "identity, gzip", "nonsense"):
        response = send(client, operation, gzip.compress(b"{}"), **{"Content-Encoding": coding})
        refusal(response, 415, "UNSUPPORTED_MEDIA_TYPE")
    assert send(client, operation, b"[]", **{"Content-Encoding": "identity"}).status_code == 400


def test_a_kind_may_be_written_in_any_case_and_with_options_or_left_out(tenant: Tenant) -> None:
    for kind in (
        "application/json",
        "Application/JSON",
        'application/json; charset="utf-8"',
        " application/json ;q",
        None,
    ):
        headers = {} if kind is None else {"Content-Type": kind}
        made = tenant.live.post("/assessments/create/", content=b'{"title": "Any case"}', headers=headers)
        assert made.status_code == 201, kind
    body = b'\xef\xbb\xbf{"title": "With a mark"}'
    assert tenant.live.post("/assessments/create/", content=body).status_code == 201


# --- Forms


def multipart(fields: list[tuple[str, str]]) -> tuple[bytes, str]:
    files = [(name, (None, text.encode())) for name, text in fields]
    request = httpx.Request("POST", "http://x", files=files)  # type: ignore[arg-type]
    return request.read(), request.headers["Content-Type"]


@with_json
def test_every_encoding_of_the_documents_examples_says_the_same(client: Api, operation: Documented) -> None:
    for value in filter(None, examples(operation)):  # what is a file alone has one encoding
        answers = [
            send(client, operation, orjson.dumps(value)),
            send(client, operation, urlencode(pairs(value)).encode(), FORM),
        ]
        content, kind = multipart(pairs(value))
        answers.append(send(client, operation, content, kind))
        # The first makes what the others find.
        statuses = {201 if one.status_code in (200, 409) else one.status_code for one in answers}
        assert len(statuses) == 1, [one.text for one in answers]
        # The example's job is a draft here, and drafts take no applications; its stages are another pipeline's.
        refused = {400} if operation.id in ("create_application", "update_pipeline") else set()
        # An address is looked up later; the example's code and passkey are nobody's.
        refused |= {202} if operation.id == "sign_in_by_mail" else set()
        nobodys = (
            "sign_in_by_code",
            "confirm_identity",
            "sign_in_by_passkey",
            "create_passkey",
            "confirm_by_passkey",
        )
        refused |= {400} if operation.id in nobodys else set()
        refused |= {503} if operation.id == "ask_assistant" else set()  # no model is set up here
        assert statuses <= {201, 404} | refused, answers[0].text


@with_json
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_form_is_read_as_the_same_values_as_json(operation: Documented, data: st.DataObject) -> None:
    schema = body_schema(operation)
    value = data.draw(values(schema))
    compiled = Schema(schema)
    assert compiled.faults(value) == []
    wanted = compiled.finish(value)
    # What a form cannot say: that a list of texts is empty, that a nullable text is "", or of what may be anything that
    # it is a text and no number.
    said = {
        name: one
        for name, one in value.items()
        if one not in ([], "")
        and "anyOf" not in schema["properties"][name]
        and ("type" in schema["properties"][name] or isinstance(one, list | dict))
    }
    form = dict(bodies.assemble(bodies.read_form(urlencode(pairs(said)).encode(), {}), schema))
    if not said:
        return
    content, kind = multipart(pairs(said))
    parts = bodies.assemble(bodies.read_multipart(content, bodies.media_type(kind)[1]), schema)
    assert form == parts
    assert {name: one for name, one in compiled.finish(form).items() if name in said} == {
        name: wanted[name] for name in said
    }


@with_json
def test_a_field_that_stands_twice_is_refused(client: Api, operation: Documented) -> None:
    for name, one in body_schema(operation)["properties"].items():
        if (
            one.get("type") == "array" and one["items"].get("type") == "string"
        ) or operation.id == "save_answer":
            continue
        for content, kind in ((f"{name}=1&{name}=1".encode(), FORM), multipart([(name, "1"), (name, "1")])):
            found = faults(send(client, operation, content, kind))
            if "type" in one or "anyOf" in one:
                assert any(pointer.startswith(f"/{name}") for pointer in found)
            else:
                assert name in found[""]


BOUNDARIES = ("; boundary=x", "", "; boundary=", "; boundary=" + "y" * 500, '; boundary="')


@with_json
def test_a_form_that_cannot_be_read_is_refused(client: Api, operation: Documented) -> None:
    name = next(iter(body_schema(operation)["properties"]))
    for content in (b"=%ff", f"{name}=%ff".encode(), f"{name}=%00".encode(), b"a%00=1", f"{name}=%ED%A0%80".encode(),
                    f"{name}=\xff".encode("latin-1"), b"&".join(b"a=1" for _ in range(2_000)), b"\x00"):  # fmt: skip
        assert "" in faults(send(client, operation, content, FORM)), content[:50]
    for content in (b"%zz", b"%", b"&&&", b"=", f"{name}=%u0041%".encode(), b"a" * 500_000):
        assert send(client, operation, content, FORM).status_code in (200, 201, 400, 404), content[:50]
    part = f'Content-Disposition: form-data; name="{name}"'.encode()
    parts = (b"nonsense", b"--x", b"--x\r\n\r\n", b"--x\r\n" + part + b"\r\n\r\n1", b"--x\r\n\r\n1\r\n--x--\r\n",
             b"--x\r\n" + part + b"\r\n\r\n\xff\r\n--x--\r\n",
             b"--x\r\n" + part + b"\r\n\r\n\x00\r\n--x--\r\n",
             b"--x\r\nContent-Disposition: nonsense\r\n\r\n1\r\n--x--\r\n",
             b"--x\r\n" + b"a: " + b"b" * 100_000 + b"\r\n\r\n1\r\n--x--\r\n",
             (b"--x\r\n" + part + b"\r\n\r\n1\r\n") * 1_500 + b"--x--\r\n")  # fmt: skip
    # Each comes with each boundary in one operation or another.
    for place, content in enumerate(parts, WITH_JSON.index(operation)):
        boundary = BOUNDARIES[place % len(BOUNDARIES)]
        assert "" in faults(send(client, operation, content, MULTIPART + boundary)), content[:80]


@with_json
def test_a_file_where_none_belongs_is_refused(client: Api, operation: Documented) -> None:
    for name, one in body_schema(operation)["properties"].items():
        if one.get("format") == "binary":
            continue
        files = {name: ("cv.pdf", b"%PDF\xff", "application/pdf"), "other": ("", b"", "text/plain")}
        response = client.request(operation.method, path(operation), files=files)
        assert faults(response) == {f"/{name}": "Must not be a file."}
    response = client.request(
        operation.method, path(operation), files={"other": ("a.txt", b"a", "text/plain")}
    )
    assert faults(response)["/other"].startswith("Unknown field.")
