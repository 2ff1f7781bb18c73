"""A process of its own that speaks OpenAI's protocol, and misbehaves as the name of the model says.

`python -m tests.providers` prints its port and serves until its standard input ends. What it was asked is at GET /seen.
"""

import functools
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any, ClassVar
from urllib.request import Request, urlopen

from tests.beside import serve, start

Body = dict[str, Any]
FOREVER = 600


def said(content: Any, calls: Any = None, finish: str = "stop") -> Body:
    message = {"role": "assistant", "content": content, **({"tool_calls": calls} if calls else {})}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }


def call(name: str, arguments: str = "{}", id: Any = "call_abc") -> Body:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def echo(asked: Body) -> Body:
    """What a well-behaved model says: the last message, and how many came before it."""
    return said(f"{len(asked['messages'])}: {asked['messages'][-1].get('content')}")


def obey(asked: Body) -> Body:
    """A model without any judgement: it says and calls whatever the last message orders in `<<…>>`, in JSON or not."""
    text = "\n".join(texts(asked["messages"][-1]["content"]))
    order = text.rpartition("<<")[2].partition(">>")[0]
    try:
        orders = json.loads(order)
        calls = [call(**one) for one in orders.get("call", [])]
        return said(orders.get("say"), calls, "tool_calls" if calls else "stop")
    except (ValueError, AttributeError):
        return said(order)


def texts(content: Any) -> Iterator[str]:
    """Every text in what was sent as JSON."""
    if isinstance(content, str):
        try:
            inner = json.loads(content)
        except ValueError:
            inner = content
        yield from [content] if isinstance(inner, (str, int, float)) or inner is None else texts(inner)
    elif isinstance(content, (dict, list)):
        for one in content.values() if isinstance(content, dict) else content:
            yield from [one] if isinstance(one, str) else texts(one)


ANSWERS = {
    "echo": echo,
    "obey": obey,
    "tools": lambda asked: said(
        None, [call(asked["tools"][0]["function"]["name"], '{"q": 1}')], "tool_calls"
    ),
    "strange-tool": lambda asked: said(None, [call("rm_rf")], "tool_calls"),
    "no-arguments": lambda asked: said(None, [{"id": "1", "type": "function", "function": {"name": "look"}}]),
    "number-for-an-id": lambda asked: said(None, [call("look", id=7)]),
    "cut-off": lambda asked: said("As long as", finish="length"),
    "filtered": lambda asked: said("I would rather not.", finish="content_filter"),
    "says-nothing": lambda asked: said(None),
    "a-number": lambda asked: said(7),
    "no-choices": lambda asked: {"choices": []},
    "a-list": lambda asked: [1],
    "nul": lambda asked: said("a\x00b"),
    "half-a-character": lambda asked: said("\ud800"),
    "too-long": lambda asked: said("x" * 300_000),
}
RAW = {
    "malformed": b'{"choices": [{"message": ',
    "empty": b"",
    "html": b"<html>It works</html>",
    "deep": b"[" * 200_000,
    "streams": b"".join(
        b"data: " + json.dumps({"choices": [{"delta": {"content": word}}]}).encode() + b"\n\n"
        for word in "ab"
    )
    + b"data: [DONE]\n\n",
}
STATUSES = {"fails": 500, "wrong-key": 401, "busy": 429, "redirects": 302}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen: ClassVar[list[Body]] = []
    lock = threading.Lock()

    def do_GET(self) -> None:
        with self.lock:
            self.answer(json.dumps(self.seen).encode())

    def do_DELETE(self) -> None:
        with self.lock:
            self.seen.clear()
        self.answer(b"{}")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        with self.lock:
            self.seen.append({"path": self.path, "headers": headers, "body": asked})
            times = sum(one["body"]["model"] == asked["model"] for one in self.seen)
        how = asked["model"]
        if how == "hangs-up" or (how == "hangs-up-once" and times == 1):
            self.close_connection = True
        elif how == "stalls":
            time.sleep(FOREVER)
        elif how in ("drips", "drips-its-head", "endless"):
            self.drip(how)
        elif how in STATUSES:
            self.answer(
                b'{"error": {"message": "'
                + json.dumps(asked["messages"]).encode().replace(b'"', b"'")
                + b'"}}',
                STATUSES[how],
            )
        elif how == "packed":
            self.answer(b"\x1f\x8b", headers={"Content-Encoding": "gzip"})
        else:
            answer = ANSWERS.get(how, echo)
            self.answer(RAW[how] if how in RAW else json.dumps(answer(asked)).encode())

    def drip(self, how: str) -> None:
        if how != "drips-its-head":
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(1 << 40))
            self.end_headers()
        while True:
            self.wfile.write(b"H" * (1 << 20 if how == "endless" else 1))
            self.wfile.flush()
            time.sleep(0 if how == "endless" else 0.05)

    def answer(self, body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Tests speak for themselves."""


class Provider:
    """The process, from outside."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"

    def seen(self, model: str | None = None) -> Iterator[Body]:
        """What it was asked, the oldest first."""
        with urlopen(f"{self.url}/seen", timeout=30) as answer:
            return (one for one in json.load(answer) if model in (None, one["body"]["model"]))

    def forget(self) -> None:
        urlopen(Request(f"{self.url}/seen", method="DELETE"), timeout=30).close()


@functools.cache
def provider() -> Provider:
    """Start it, once for each process of tests; it ends with that."""
    return Provider(start("tests.providers"))


if __name__ == "__main__":
    serve(Handler)
