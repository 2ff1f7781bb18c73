"""The assistant: a conversation passed to the model and back; nothing of it is kept."""

from typing import Any

from gateways import models
from rules import assistant, scripted
from rules.caller import Caller
from schemas import assistant as schemas

Body = dict[str, Any]


def ask_assistant(caller: Caller, body: Body) -> Body:
    """Have the model say what comes next; in test mode the scripted one."""
    messages, tools = body["messages"], body["tools"]
    assistant.check(messages)
    if not caller.livemode:
        return schemas.answer(scripted.say(messages, tools))
    limit = {"max_tokens": body["max_tokens"]} if "max_tokens" in body else {}
    return schemas.answer(models.ask(messages, tools=tools, **limit))
