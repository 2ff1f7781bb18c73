"""What the assistant's answers look like."""

from typing import Any

from rules.assistant import Said


def answer(said: Said) -> dict[str, Any]:
    """Show what a model said, as a message that can be sent back as it is."""
    message: dict[str, Any] = {"role": "assistant", "content": said.content}
    if said.calls:
        message |= {"content": said.content or None, "tool_calls": list(said.calls)}
    return {"message": message, "finish_reason": said.finish}
