"""Conversations with the model."""

from tests.operations import states
from tests.operations.rows import Row

TOOL = {
    "type": "function",
    "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object"}},
}
CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
ROWS = {
    "ask_assistant": Row(
        states.a_model,
        {
            "messages": [
                {"role": "assistant", "content": "Let me look.", "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "call_1", "content": "Nothing there."},
            ],
            "tools": [TOOL],
            "max_tokens": 50,
        },
    )
}
