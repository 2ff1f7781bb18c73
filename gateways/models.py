"""The one way to a language model: any server that speaks OpenAI's protocol, asked within a time and a size.

What is said to it and by it is nobody's to log: refusals name what went wrong, never a word of it.
"""

import asyncio
import functools
import hashlib
import json
import logging
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import orjson

from gateways.exchanges import CONNECT_SECONDS, run
from rules import assistant
from rules.assistant import Said
from rules.errors import AiDisabled, AiProviderError

log = logging.getLogger("hiring.models")

NOT_CONFIGURED = "No model is configured: set ASSISTANT_BASE_URL and ASSISTANT_MODEL."
LARGEST = 4 << 20  # bytes of an answer
TRIES = 2  # a connection that failed is tried once more, within the same time


class Late(AiProviderError):
    """The model took longer than it had."""

    code = AiProviderError.code


class TooLarge(Exception):
    """An answer has no end."""


@dataclass(frozen=True)
class Model:
    """Where the model is and what it is called."""

    base_url: str
    name: str
    api_key: str


_model: Model | None = None


def configure(*, base_url: str, model: str, api_key: str) -> None:
    """Set the model; without address or name there is none."""
    global _model  # noqa: PLW0603 - one process, one model
    _model = Model(base_url.rstrip("/"), model, api_key) if base_url and model else None


def is_configured() -> bool:
    """Say whether there is a model."""
    return _model is not None


def digest(messages: Sequence[Mapping[str, Any]]) -> str:
    """Name what the model is asked, and which one: the same for the same."""
    name = _model.name if _model else ""
    return hashlib.sha256(orjson.dumps([name, list(messages)])).hexdigest()


def ask(
    messages: Sequence[Mapping[str, Any]],
    *,
    seconds: float = assistant.SECONDS,
    tools: Sequence[Mapping[str, Any]] = (),
    **options: Any,
) -> Said:
    """Have the model answer; raises AiDisabled where there is none, AiProviderError, and Late when its time is over.

    Messages go as they are, each in its role. For threads without an event loop.
    """
    if _model is None:
        raise AiDisabled
    asked = {"model": _model.name, "messages": list(messages), **options}
    if tools:
        asked["tools"] = list(tools)
    offered = {one["function"]["name"] for one in tools}
    return _read(_exchange(_model, asked, seconds), offered)


def ask_for_object(messages: Sequence[Mapping[str, Any]], shape: Any, **options: Any) -> dict[str, Any]:
    """Have the model write one JSON object of a shape; raises ValueError for anything else, and what `ask` raises."""
    content = ask(messages, **options).content
    written: dict[str, Any] = orjson.loads(content[content.index("{") : content.rindex("}") + 1])
    if not shape.is_valid(written):
        raise ValueError("not of the shape")
    return written


def transcript(orders: str, data: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return what a model is told: our orders, always the same, and what others wrote, only ever as data."""
    given = json.dumps(data, ensure_ascii=False)
    return [{"role": "system", "content": orders}, {"role": "user", "content": given}]


def _exchange(model: Model, asked: dict[str, Any], seconds: float) -> bytes:
    """Send it and return the answer's body; what goes wrong is raised without a word of what was said."""
    openai = _library()
    try:
        return run(_take(openai, model, asked, seconds))
    except (TimeoutError, openai.APITimeoutError):
        raise Late("The model did not answer in time.") from None
    except openai.APIStatusError as fault:
        reason = f"The model's server answered {fault.status_code}."
    except openai.APIConnectionError:
        reason = "The model's server could not be reached."
    except TooLarge:
        reason = "The model's server answered too much."
    except (
        Exception
    ) as fault:  # an address that is none, a body that breaks off: the library raises what it likes
        reason = "The model's server broke off, or cannot be asked."
        log.warning("a model failed", extra={"fault": type(fault).__name__})
    raise AiProviderError(reason) from None


async def _take(openai: Any, model: Model, asked: dict[str, Any], seconds: float) -> bytes:
    """Exchange one request within a time for all of it: a server may answer a byte at a time."""
    limits = httpx.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
    bounds: dict[str, list[Any]] = {"response": [_bound]}
    async with (
        asyncio.timeout(seconds),
        httpx.AsyncClient(
            verify=_trust(), timeout=limits, event_hooks=bounds, headers={"Accept-Encoding": "identity"}
        ) as http,
    ):
        client: openai.AsyncOpenAI = openai.AsyncOpenAI(
            api_key=model.api_key or "none",
            base_url=model.base_url,
            max_retries=0,
            http_client=http,
        )
        headers = {} if model.api_key else {"Authorization": openai.Omit()}
        client.organization = client.project = None  # which it has read from the environment
        for left in reversed(range(TRIES)):
            try:
                async with client.chat.completions.with_streaming_response.create(
                    **asked, extra_headers=headers
                ) as answer:
                    return bytes(await answer.read())
            except openai.APITimeoutError as fault:
                if not left or not isinstance(fault.__cause__, httpx.ConnectTimeout):
                    raise
            except openai.APIConnectionError:
                if not left:
                    raise
    raise AssertionError  # the last try returns or raises


class _Bounded(httpx.AsyncByteStream):
    """A body of which no more is read than an answer can have."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for piece in self.stream:
            read += len(piece)
            if read > LARGEST:
                raise TooLarge
            yield piece

    async def aclose(self) -> None:
        await self.stream.aclose()


async def _bound(response: httpx.Response) -> None:
    """Bound every body, those of failures too; what is packed could unfold into any size."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise httpx.DecodingError("The answer is packed.", request=response.request)
    response.stream = _Bounded(response.stream)


def _read(content: bytes, offered: set[str]) -> Said:
    try:
        choice = orjson.loads(content)["choices"][0]
        message = choice["message"]
        return assistant.answer(
            message.get("content"),
            message.get("tool_calls") or (),
            choice.get("finish_reason"),
            offered=offered,
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        raise AiProviderError("The model answered something else than what it was asked for.") from None


@functools.cache
def _library() -> Any:
    """Load it when a model is first asked: it takes longer than the rest of a process's start."""
    import openai

    # Below that it logs what is said, whatever OPENAI_LOG is.
    logging.getLogger("openai").setLevel(logging.WARNING)
    return openai


@functools.cache
def _trust() -> ssl.SSLContext:
    return httpx.create_ssl_context()  # reading it takes longer than most exchanges
