"""The assistant: what is said reaches the model and comes back; every refusal is flat; a slow model delays nobody."""

import dataclasses
import json
import logging
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from app.http.application import create_app
from app.instance.settings import Settings
from gateways import models
from rules import assistant
from rules.plans import EXTRA_CAPS
from tests import api
from tests.api import Api, Tenant
from tests.client import Client
from tests.injections import ATTEMPTS, judged
from tests.providers import Provider, call, provider

PATH = "/assistant/chat/"
HELLO = {"messages": [{"role": "user", "content": "Hello"}]}
TOOL = {
    "type": "function",
    "function": {
        "name": "get_candidate",
        "parameters": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
    },
}


@pytest.fixture
def server() -> Iterator[Provider]:
    one = provider()
    one.forget()
    use(one, "echo")
    yield one
    models.configure(base_url="", model="", api_key="")


def use(server: Provider, model: str) -> None:
    models.configure(base_url=server.url, model=model, api_key="a-key-of-ours")


def flat(answer: httpx.Response, status: int, code: str) -> str:
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json"), answer.text
    body = answer.json()
    assert {name: body[name] for name in ("code", "status")} == {"code": code, "status": "error"}
    assert set(body) == {"code", "message", "status"}
    return str(body["message"])


def test_a_conversation_reaches_the_model_and_its_answer_can_be_sent_back(
    tenant: Tenant, server: Provider
) -> None:
    use(server, "tools")
    asked = {"messages": [{"role": "user", "content": "Who is 1?"}], "tools": [TOOL], "max_tokens": 9}
    first = tenant.live.post(PATH, asked).json()
    assert first["finish_reason"] == "tool_calls"
    [wanted] = first["message"]["tool_calls"]
    told = {"role": "tool", "tool_call_id": wanted["id"], "content": "Ada"}
    use(server, "echo")
    second = tenant.live.post(PATH, asked | {"messages": [*asked["messages"], first["message"], told]})
    assert second.json() == {"message": {"role": "assistant", "content": "3: Ada"}, "finish_reason": "stop"}
    *_, last = server.seen()
    assert last["body"]["messages"] == [*asked["messages"], first["message"], told]
    assert (last["body"]["tools"], last["body"]["max_tokens"]) == ([TOOL], 9)


def test_test_keys_talk_to_a_script_and_cost_nothing(tenant: Tenant, server: Provider) -> None:
    said = tenant.test.post(PATH, HELLO | {"tools": [TOOL]}).json()
    [wanted] = said["message"]["tool_calls"]
    assert isinstance(json.loads(wanted["function"]["arguments"])["id"], int)
    assert "Hello" in tenant.test.post(PATH, HELLO).json()["message"]["content"]
    assert list(server.seen()) == []


@pytest.mark.parametrize(
    ("message", "pointer"),
    [
        ({"role": "user"}, "/messages/0/content"),
        ({"role": "assistant", "content": None}, "/messages/0/content"),
        ({"role": "assistant", "tool_calls": []}, "/messages/0/content"),
        ({"role": "user", "content": "x", "tool_calls": [call("a")]}, "/messages/0/tool_calls"),
        ({"role": "tool", "content": "x"}, "/messages/0/tool_call_id"),
        ({"role": "user", "content": "x", "tool_call_id": "1"}, "/messages/0/tool_call_id"),
        ({"role": "developer", "content": "x"}, "/messages/0/role"),
        ({"role": "user", "content": [{"type": "text"}]}, "/messages/0/content"),
    ],
)
@pytest.mark.parametrize("mode", ["live", "test"])
def test_a_message_that_says_nothing_is_refused_in_its_place(
    tenant: Tenant, server: Provider, mode: str, message: dict[str, Any], pointer: str
) -> None:
    said = flat(getattr(tenant, mode).post(PATH, {"messages": [message]}), 400, "VALIDATION_ERROR")
    assert f"\n{pointer}: " in said
    assert list(server.seen()) == []


def test_every_refusal_of_the_assistants_path_is_flat(
    tenant: Tenant, server: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = dataclasses.replace(tenant.live, checked=False)
    flat(live.get(PATH), 405, "METHOD_NOT_ALLOWED")
    flat(live.delete(PATH), 405, "METHOD_NOT_ALLOWED")
    flat(live.post("/assistant/nothing/", HELLO), 404, "NOT_FOUND")
    flat(live.post(PATH, content=b"x", headers={"Content-Type": "text/plain"}), 415, "UNSUPPORTED_MEDIA_TYPE")
    flat(
        live.post(PATH, content=b"x" * (1 << 21), headers={"Content-Type": "application/json"}),
        413,
        "BODY_TOO_LARGE",
    )
    flat(live.post(PATH, content=b'{"a'), 400, "VALIDATION_ERROR")
    flat(live.post("/assistant/chat", {"messages": []}), 400, "VALIDATION_ERROR")
    flat(Api(tenant.http, None).post(PATH, HELLO), 401, "INVALID_API_KEY")
    assert "assistant:write" in flat(
        tenant.key(scopes=["jobs:read"]).post(PATH, HELLO), 403, "INSUFFICIENT_SCOPE"
    )
    flat(tenant.key(cidrs=["203.0.113.0/24"]).post(PATH, HELLO), 403, "IP_NOT_ALLOWED")
    assert live.post(PATH, HELLO, headers={"Idempotency-Key": "one"}).status_code == 200
    other = {"messages": [{"role": "user", "content": "Another"}]}
    flat(live.post(PATH, other, headers={"Idempotency-Key": "one"}), 422, "IDEMPOTENCY_MISMATCH")
    use(server, "fails")
    flat(live.post(PATH, HELLO), 502, "AI_PROVIDER_ERROR")
    models.configure(base_url="", model="", api_key="")
    flat(live.post(PATH, HELLO), 503, "AI_DISABLED")
    monkeypatch.setitem(EXTRA_CAPS, "public_api_assistant", 0)
    refused = live.post(PATH, HELLO)
    assert f"retry_after_seconds: {refused.headers['Retry-After']}" in flat(refused, 429, "RATE_LIMITED")


def test_the_assistant_has_a_throttle_of_its_own(tenant: Tenant, server: Provider) -> None:
    writes = tenant.live.patch("/org/", {}).headers["X-RateLimit-Remaining"]
    answers = [(tenant.live, tenant.test)[number % 2].post(PATH, HELLO) for number in range(30)]
    assert [one.status_code for one in answers] == [200] * 30
    assert answers[-1].headers["X-RateLimit-Remaining"] == "0"
    flat(tenant.live.post(PATH, HELLO), 429, "RATE_LIMITED")
    flat(tenant.test.post(PATH, HELLO), 429, "RATE_LIMITED")
    assert int(tenant.live.patch("/org/", {}).headers["X-RateLimit-Remaining"]) == int(writes) - 1


def test_a_kept_answer_is_not_asked_for_again(tenant: Tenant, server: Provider) -> None:
    asked = [tenant.live.post(PATH, HELLO, headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert asked[0].json() == asked[1].json()
    assert len(list(server.seen())) == 1


def test_no_word_of_a_conversation_is_logged(
    tenant: Tenant, server: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "the candidate's illness"
    asked = {"messages": [{"role": "user", "content": secret}]}
    with caplog.at_level(logging.DEBUG):
        for model in ("echo", "fails", "malformed", "tools", "hangs-up"):
            use(server, model)
            dataclasses.replace(tenant.live, checked=False).post(PATH, asked)
        tenant.live.post(PATH, {"messages": [{"role": "nobody", "content": secret}]})
    assert any("AI_PROVIDER_ERROR" in record.message for record in caplog.records)
    for record in caplog.records:
        assert secret not in str(vars(record))
    assert not [one for one in caplog.records if one.exc_info]


@pytest.mark.parametrize("role", ["user", "tool"])
def test_injections_reach_the_model_as_they_are_and_call_nothing_that_is_not_offered(
    server: Provider,
    http: TestClient,
    role: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    use(server, "obey")
    monkeypatch.setitem(EXTRA_CAPS, "public_api_assistant", 100)
    owner = api.tenant(http)
    live = dataclasses.replace(owner.live, checked=False)
    before = live.get("/applications/").json()["results"]
    outcomes: Counter[str] = Counter()
    sent = []
    for text in ATTEMPTS.values():
        opening = [
            {"role": "system", "content": "You help recruiters."},
            {"role": "user", "content": "Sum it up."},
        ]
        call = {"id": "call_1", "type": "function", "function": {"name": "get_candidate", "arguments": "{}"}}
        asked = {"role": "assistant", "content": None, "tool_calls": [call]}
        told = {"role": "tool", "tool_call_id": "call_1", "content": text}
        messages = (
            [*opening, asked, told] if role == "tool" else [*opening[:1], {"role": "user", "content": text}]
        )
        sent.append(messages)
        answer = live.post(PATH, {"messages": messages, "tools": [TOOL]})
        if answer.is_success:
            assert "tool_calls" not in answer.json()["message"]
            outcomes["answered with words"] += 1
        else:
            assert "tool" in flat(answer, 502, "AI_PROVIDER_ERROR")
            outcomes["refused: a call that was not offered"] += 1
    transcripts = [one["body"] for one in server.seen()]
    assert len(transcripts) == len(ATTEMPTS) >= 20
    for one, messages in zip(transcripts, sent, strict=True):
        assert one["messages"] == messages  # each in its role, none of ours beside them
        assert one["tools"] == [TOOL]
        assert "a-key-of-ours" not in json.dumps(one)
        assert str(owner.live.key) not in json.dumps(one)
    assert live.get("/applications/").json()["results"] == before
    with capsys.disabled():
        judged(print, f"a conversation, as {role}", len(ATTEMPTS), outcomes)


def test_models_that_say_nothing_delay_nobody_else(settings: Settings, server: Provider) -> None:
    use(server, "stalls")
    app = create_app(dataclasses.replace(settings, model_threads=4))
    use(server, "stalls")  # assembling an application sets its own
    with (
        pytest.MonkeyPatch.context() as patch,
        Client(app, base_url=settings.base_url) as http,
        ThreadPoolExecutor(16) as pool,
    ):
        patch.setattr(assistant, "SECONDS", 8.0)
        patch.setattr(models.ask, "__kwdefaults__", {**models.ask.__kwdefaults__, "seconds": 8.0})
        busy = [api.tenant(http) for _ in range(2)]
        unchecked = [dataclasses.replace(one.live, checked=False) for one in busy for _ in range(4)]
        asking = [pool.submit(one.post, PATH, HELLO) for one in unchecked]
        begun = threading.Event()
        while len(list(server.seen("stalls"))) < 4:
            begun.wait(0.02)
        for one in (busy[0].live, api.tenant(http).live):
            assert one.get("/org/").status_code == 200
            assert one.patch("/org/", {"name": "Still here"}).status_code == 200
            assert (
                one.post("/webhooks/create/", {"url": "http://127.0.0.1:9/", "events": ["*"]}).status_code
                == 201
            )
        assert not [one for one in asking if one.done()]
        assert {one.result().status_code for one in asking} <= {502, 503}
