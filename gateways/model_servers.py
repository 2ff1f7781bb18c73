"""One exchange with a model's server: what `gateways.models` asks goes over the wire here, and nowhere else."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any, cast

import httpx
import openai

from gateways.exchanges import CONNECT_SECONDS, run, trust
from rules.errors import AiProviderError

log = logging.getLogger("hiring.models")
# Below that it logs what is said, whatever OPENAI_LOG is.
logging.getLogger("openai").setLevel(logging.WARNING)

LARGEST = 4 << 20  # bytes of an answer
TRIES = 2  # a connection that failed is tried once more, within the same time


class TooLarge(Exception):
    """An answer has no end."""


def exchange(base_url: str, api_key: str, asked: dict[str, Any], seconds: float) -> bytes:
    """Send a request and return the answer's body; raises TimeoutError, and AiProviderError without a word of it.

    For threads without an event loop.
    """
    try:
        return run(_take(base_url, api_key, asked, seconds))
    except (TimeoutError, openai.APITimeoutError):
        raise TimeoutError from None
    except openai.APIStatusError as fault:
        reason = f"The model's server answered {fault.status_code}."
    except openai.APIConnectionError:
        reason = "The model's server could not be reached."
    except TooLarge:
        reason = "The model's server answered too much."
    # An address that is none, a body that breaks off: the library raises what it likes.
    except Exception as fault:
        reason = "The model's server broke off, or cannot be asked."
        log.warning("a model failed", extra={"fault": type(fault).__name__})
    raise AiProviderError(reason) from None


async def _take(base_url: str, api_key: str, asked: dict[str, Any], seconds: float) -> bytes:
    """Exchange one request within a time for all of it: a server may answer a byte at a time."""
    limits = httpx.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
    bounds: dict[str, list[Any]] = {"response": [_bound]}
    async with (
        asyncio.timeout(seconds),
        httpx.AsyncClient(
            verify=trust(), timeout=limits, event_hooks=bounds, headers={"Accept-Encoding": "identity"}
        ) as http,
    ):
        client: openai.AsyncOpenAI = openai.AsyncOpenAI(
            api_key=api_key or "none",
            base_url=base_url,
            max_retries=0,
            http_client=cast("Any", http),  # which it takes still
        )
        headers = {} if api_key else {"Authorization": openai.Omit()}
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
