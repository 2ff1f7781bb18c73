"""What every journey of the demo does: it calls, waits for events, and says what came."""

import base64
import hashlib
import hmac
import json
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import click
import httpx

from app.instance.trouble import Trouble

PATIENCE = 60.0  # seconds for each thing that happens by itself


class Api:
    """The public API with a key; an answer that was not hoped for ends the demo."""

    def __init__(self, base_url: str, key: str | None, prefix: str = "/api/v1/public") -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.client = httpx.Client(base_url=base_url + prefix, headers=headers, timeout=30, trust_env=False)

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        """Call one operation and return what it answers."""
        answer = self.client.request(method, path, json=body)
        if not answer.is_success:
            raise Trouble(f"{method} {path} answered {answer.status_code}: {answer.text}")
        return answer.json() if answer.content else None


class Received:
    """What has arrived, verified on arrival."""

    def __init__(self) -> None:
        self.events: queue.Queue[dict[str, Any]] = queue.Queue()
        self.secret = ""
        self.verified = 0

    def take(self, headers: Any, body: bytes) -> None:
        """Verify a delivery as the contract says, and keep it."""
        key = base64.b64decode(self.secret.removeprefix("whsec_"))
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        genuine = any(
            hmac.compare_digest(signature, f"v1,{expected}")
            for signature in headers["webhook-signature"].split(" ")
        )
        self.verified += genuine
        self.events.put(json.loads(body) | {"genuine": genuine})


def expect(received: Received, type: str) -> dict[str, Any]:
    """Wait for an event and return its data; deliveries may overtake each other, so others are put back."""
    others = []
    try:
        while True:
            event = received.events.get(timeout=PATIENCE)
            if not event["genuine"]:
                raise Trouble(f"The signature of {event['type']} is wrong.")
            if event["type"] == type:
                number = f", number {event['sequence']}" if event.get("sequence") else ""
                say("event", f"{type} arrived{number}; signature verified")
                return dict(event["data"])
            others.append(event)
    except queue.Empty:
        raise Trouble(
            f"{type} did not arrive within {PATIENCE:.0f} s. Is a worker running, and may it deliver to this machine"
            " (WEBHOOK_ALLOW_PRIVATE=1)?"
        ) from None
    finally:
        for event in others:
            received.events.put(event)


@contextmanager
def receiver() -> Iterator[tuple[str, Received]]:
    """Receive webhooks on a free port; yields the address and what arrives."""
    received = Received()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.take(self.headers, self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/hook", received
        server.shutdown()


def say(what: str, text: str) -> None:
    """Print one step that went well."""
    click.echo(f"{click.style('✓', fg='green')} {what:12} {text}")


@contextmanager
def listening(api: Api, hook_url: str, received: Received) -> Iterator[None]:
    """Have an endpoint for every event, as long as the block."""
    endpoint = api("POST", "/webhooks/create/", {"url": hook_url, "events": ["*"], "name": "Demo"})
    received.secret = endpoint["secret_key"]
    try:
        ping = api("POST", f"/webhooks/{endpoint['id']}/test/")
        say("webhook", f"{hook_url} verified in {ping['response_time_ms']} ms")
        expect(received, "webhook.test")
        yield
    finally:
        api("DELETE", f"/webhooks/{endpoint['id']}/")
