"""A program in an interview's room: what a page does, without a page."""

import json
import threading
import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import httpx
from pycrdt import Doc, Text
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from app.http.live import frames
from tests.rooms import Prepared


class Program:
    """One client: hears all, keeps a copy of the document, and comes back where its connection is lost."""

    def __init__(self, base: str | Callable[[], str], room: Prepared, token: str, name: str = "") -> None:
        self.base = base if callable(base) else lambda: base
        self.path, self.name = f"{room.of(token)}live/", name
        self.doc: Any = Doc()
        self.text = self.doc.get("code", type=Text)
        self.lock = threading.RLock()
        self.number, self.events = 0, []  # type: int, list[dict[str, Any]]
        self.unsent: dict[str, str] = {}  # messages that nobody acknowledged yet
        self.acks: dict[str, int] = {}
        self.saved, self.statuses, self.cursors = 0, [], []  # type: int, list[str], list[bytes]
        self.refused: list[dict[str, Any]] = []
        self.signals: list[dict[str, Any]] = []
        self.socket: Any = None
        self.synced = threading.Event()
        self.ended = threading.Event()
        self.connections = 0
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def __enter__(self) -> "Program":
        assert self.synced.wait(15)
        return self

    def __exit__(self, *_fault: object) -> None:
        self.ended.set()
        if self.socket is not None:
            self.socket.close()
        self.thread.join(10)

    # --- What it does

    def say(self, content: str) -> str:
        id = str(uuid4())
        with self.lock:
            self.unsent[id] = content
            self._send(json.dumps({"type": "message", "id": id, "content": content}))
        return id

    def type(self, text: str, at: int | None = None) -> None:
        with self.lock:
            before = self.doc.get_state()
            self.text.insert(len(self.text) if at is None else at, text)
            self._send(frames.sync(frames.UPDATE, self.doc.get_update(before)))

    def point(self, cursor: bytes) -> None:
        self._send(frames.cursor(cursor))

    def code(self) -> str:
        with self.lock:
            return str(self.text)

    def heard(self) -> list[str]:
        return [one["data"]["content"] for one in list(self.events) if one["kind"] == "message"]

    def _send(self, frame: str | bytes) -> None:
        try:
            if self.socket is not None:
                self.socket.send(frame)
        except ConnectionClosed:
            pass  # it is said again

    # --- How it hears

    def _run(self) -> None:
        while not self.ended.is_set():
            try:
                self._talk()
            except (OSError, ConnectionClosed, TimeoutError):
                pass
            except Exception as fault:  # a refusal, before it is a WebSocket
                if "HTTP 4" in str(fault):
                    return
            time.sleep(0.1)

    def _talk(self) -> None:
        base = self.base().replace("http", "ws", 1)
        with connect(base + self.path, max_size=None, open_timeout=5, close_timeout=1) as socket:
            socket.send(json.dumps({"type": "hello", "after": self.number, "name": self.name}))
            with self.lock:
                socket.send(frames.sync(frames.ASK, self.doc.get_state()))
                self.socket = socket
                for id, content in self.unsent.items():
                    socket.send(json.dumps({"type": "message", "id": id, "content": content}))
            self.connections += 1
            try:
                for frame in socket:
                    self._hear(frame)
            finally:
                self.socket = None

    def _hear(self, frame: Any) -> None:
        if isinstance(frame, bytes):
            self._hear_bytes(frames.read(frame))
        else:
            self._hear_words(json.loads(frame))

    def _hear_bytes(self, given: frames.Message) -> None:
        if given.kind == frames.AWARENESS:
            self.cursors.append(given.content)
            return
        with self.lock:
            if given.step == frames.ASK:
                self._send(frames.sync(frames.UPDATE, self.doc.get_update(given.content)))
            else:
                self.doc.apply_update(given.content)
                if given.step == frames.ANSWER:
                    self.synced.set()

    def _hear_words(self, said: dict[str, Any]) -> None:
        if said["type"] == "events":
            for one in said["events"]:
                assert one["number"] > self.number, "an event came twice, or out of order"
                self.number = one["number"]
                self.events.append(one)
        elif said["type"] == "ack":
            with self.lock:
                self.unsent.pop(said["id"], None)
            self.acks[said["id"]] = said["number"]
        elif said["type"] == "saved":
            self.saved = said["updates"]
        elif said["type"] == "status":
            self.statuses.append(said["status"])
        elif said["type"] == "voice":
            self.signals.append({name: value for name, value in said.items() if name != "type"})
        elif said["type"] == "refused":
            self.refused.append(said)


def join(base: str, room: Prepared) -> None:
    """Have both sides come in by plain requests."""
    for url in (room.url, room.inside):
        answer = httpx.post(f"{base}{url}join/", json={"consent_accepted": True}, timeout=20)
        assert answer.status_code == 200, answer.text


def eventually(seen: Callable[[], Any], seconds: float = 15.0) -> Any:
    """Wait until something holds."""
    until = time.monotonic() + seconds
    while not (found := seen()):
        assert time.monotonic() < until, "it does not come about"
        time.sleep(0.02)
    return found
