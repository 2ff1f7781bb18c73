"""The one way to a language model: any server that speaks OpenAI's protocol, asked within a time and a size.

What is said to it and by it is nobody's to log: refusals name what went wrong, never a word of it.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from rules import assistant
from rules.assistant import Said
from rules.errors import AiDisabled, AiProviderError

NOT_CONFIGURED = "No model is configured: set ASSISTANT_BASE_URL and ASSISTANT_MODEL."


class Late(AiProviderError):
    """The model took longer than it had."""

    code = AiProviderError.code


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
    from gateways import model_servers

    try:
        answer = model_servers.exchange(_model.base_url, _model.api_key, asked, seconds)
    except TimeoutError:
        raise Late("The model did not answer in time.") from None
    return _read(answer, offered)


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
