"""What a conversation with a model may be, and what may come back from one."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rules.errors import AiProviderError, Invalid

Message = Mapping[str, Any]
Call = dict[str, Any]  # {"id", "type": "function", "function": {"name", "arguments"}}

SECONDS = 30.0  # that a model has for an answer, whatever its server does
LONGEST_CONTENT, LONGEST_ARGUMENTS, MOST_CALLS = 200_000, 100_000, 64
FINISHES = ("stop", "length", "tool_calls")
_ID, _NAME = re.compile(r"[^\x00]{1,128}"), re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class Said:
    """What a model said: a text, or functions that it wants called."""

    content: str
    calls: Sequence[Call] = ()
    finish: str = "stop"


def check(messages: Sequence[Message]) -> None:
    """Refuse messages that no model could make sense of, every fault at once."""
    faults = [fault for place, one in enumerate(messages) for fault in _faults(f"/messages/{place}", one)]
    if faults:
        raise Invalid(fields=[{"pointer": pointer, "message": message} for pointer, message in faults])


def _faults(at: str, message: Message) -> list[tuple[str, str]]:
    role, calls = message["role"], message.get("tool_calls")
    found = []
    if message.get("content") is None and not calls:
        found.append((f"{at}/content", "Must be a text where there are no tool_calls."))
    if calls and role != "assistant":
        found.append((f"{at}/tool_calls", "Only an assistant's message has these."))
    if role == "tool" and not message.get("tool_call_id"):
        found.append((f"{at}/tool_call_id", "A tool's message says which call it answers."))
    if role != "tool" and message.get("tool_call_id"):
        found.append((f"{at}/tool_call_id", "Only a tool's message has this."))
    return found


def answer(
    content: Any, calls: Sequence[Mapping[str, Any]], finish: Any, *, offered: Collection[str]
) -> Said:
    """Return what a model said as it may be sent back, or raise AiProviderError: it calls only what was offered."""
    text = "" if content is None else _sound(content, LONGEST_CONTENT)
    if len(calls) > MOST_CALLS:
        raise AiProviderError("The model wants too many tools called at once.")
    kept = [_call(one, offered) for one in calls]
    if kept:
        return Said(text, kept, "tool_calls")
    return Said(text, (), "length" if finish == "length" else "stop")


def _call(given: Mapping[str, Any], offered: Collection[str]) -> Call:
    id, function = given["id"], given["function"]
    name, arguments = function["name"], function["arguments"]
    if not (isinstance(id, str) and _ID.fullmatch(id) and isinstance(name, str) and _NAME.fullmatch(name)):
        raise AiProviderError("The model named a tool in a way that is none.")
    if name not in offered:
        raise AiProviderError("The model wants a tool called that the request does not offer.")
    return {
        "id": id,
        "type": "function",
        "function": {"name": name, "arguments": _sound(arguments, LONGEST_ARGUMENTS)},
    }


def _sound(text: Any, longest: int) -> str:
    """Leave out what no request may hold, or refuse what is no text or too long for one."""
    if not isinstance(text, str) or len(text) > longest:
        raise AiProviderError("The model said something that is no text, or too long a one.")
    return text.replace("\x00", "").encode("utf-8", "replace").decode()
