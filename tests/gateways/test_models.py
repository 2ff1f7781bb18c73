"""A model's server may do what it likes: there is an answer or a reason, in time, and no word of it in a log."""

import logging
import time
from collections.abc import Iterator

import pytest

from gateways import models
from rules.errors import AiDisabled, AiProviderError
from tests.providers import Provider, provider

TOOL = {"type": "function", "function": {"name": "look"}}
SECRET = "Ada's salary is a secret"
ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": SECRET}]
NO_ANSWER = "something else than what it was asked for"


@pytest.fixture
def server() -> Iterator[Provider]:
    one = provider()
    one.forget()
    yield one
    models.configure(base_url="", model="", api_key="")


def use(server: Provider, model: str, key: str = "a-key") -> None:
    models.configure(base_url=server.url, model=model, api_key=key)


def test_messages_and_tools_arrive_as_they_are_and_the_answer_comes_back(server: Provider) -> None:
    use(server, "echo")
    said = models.ask(ASKED, tools=[TOOL], max_tokens=7)
    assert (said.content, said.calls, said.finish) == (f"2: {SECRET}", (), "stop")
    [request] = server.seen()
    assert request["path"] == "/v1/chat/completions"
    assert request["headers"]["authorization"] == "Bearer a-key"
    assert request["body"] == {"model": "echo", "messages": ASKED, "tools": [TOOL], "max_tokens": 7}


def test_a_local_server_without_a_key_is_sent_none(server: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "of-somebody-else")
    use(server, "echo", key="")
    models.ask(ASKED)
    [request] = server.seen()
    assert "of-somebody-else" not in str(request)
    assert "authorization" not in request["headers"]


def test_tools_that_it_wants_called_come_back(server: Provider) -> None:
    use(server, "tools")
    said = models.ask(ASKED, tools=[TOOL])
    call = {"id": "call_abc", "type": "function", "function": {"name": "look", "arguments": '{"q": 1}'}}
    assert (said.content, said.calls, said.finish) == ("", [call], "tool_calls")


@pytest.mark.parametrize(
    ("model", "content", "finish"),
    [
        ("cut-off", "As long as", "length"),
        ("filtered", "I would rather not.", "stop"),
        ("says-nothing", "", "stop"),
        ("nul", "ab", "stop"),
    ],
)
def test_what_it_says_otherwise_can_be_sent_back_too(
    server: Provider, model: str, content: str, finish: str
) -> None:
    use(server, model)
    said = models.ask(ASKED)
    assert (said.content, said.calls, said.finish) == (content, (), finish)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("fails", "answered 500"),
        ("wrong-key", "answered 401"),
        ("busy", "answered 429"),
        ("redirects", "answered 302"),
        ("hangs-up", "could not be reached"),
        ("packed", "could not be reached"),
        ("endless", "answered too much"),
        ("malformed", NO_ANSWER),
        ("empty", NO_ANSWER),
        ("html", NO_ANSWER),
        ("deep", NO_ANSWER),
        ("half-a-character", NO_ANSWER),
        ("streams", NO_ANSWER),
        ("no-choices", NO_ANSWER),
        ("a-list", NO_ANSWER),
        ("no-arguments", NO_ANSWER),
        ("a-number", "no text"),
        ("too-long", "too long"),
        ("number-for-an-id", "a way that is none"),
        ("strange-tool", "does not offer"),
    ],
)
def test_whatever_it_does_is_a_reason_and_nothing_said_is_logged(
    server: Provider, model: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    use(server, model)
    with caplog.at_level(logging.DEBUG), pytest.raises(AiProviderError, match=reason) as refused:
        models.ask(ASKED, tools=[TOOL], seconds=20)
    assert refused.value.__suppress_context__ or refused.value.__context__ is None
    assert SECRET not in caplog.text + str(refused.value)


@pytest.mark.parametrize("model", ["stalls", "drips", "drips-its-head"])
def test_its_time_ends_however_it_spends_it(server: Provider, model: str) -> None:
    use(server, model)
    began = time.monotonic()
    with pytest.raises(models.Late):
        models.ask(ASKED, seconds=0.5)
    assert time.monotonic() - began < 15  # and not the ten minutes that the server would take
    assert len(list(server.seen(model))) == 1  # nobody is asked twice for what took long


@pytest.mark.parametrize(("model", "times"), [("hangs-up", 2), ("hangs-up-once", 2), ("fails", 1)])
def test_a_connection_that_fails_is_tried_once_more_and_an_answer_is_one(
    server: Provider, model: str, times: int
) -> None:
    use(server, model)
    if model == "hangs-up-once":
        assert models.ask(ASKED).content
    else:
        with pytest.raises(AiProviderError):
            models.ask(ASKED)
    assert len(list(server.seen(model))) == times


def test_nobody_there_is_a_reason_too() -> None:
    models.configure(base_url="http://127.0.0.1:1/v1", model="echo", api_key="")
    with pytest.raises(AiProviderError, match="could not be reached"):
        models.ask(ASKED, seconds=5)
    for address in ("no address at all", "http://[::1", "http://127.0.0.1:99999/v1"):
        models.configure(base_url=address, model="echo", api_key="")
        with pytest.raises(AiProviderError):
            models.ask(ASKED, seconds=5)
    models.configure(base_url="", model="", api_key="")
    with pytest.raises(AiDisabled):
        models.ask(ASKED)
