"""The people in a share of the rooms of `bench.rooms`, or somebody who asks for something at a steady pace.

A program of its own, told by a line of JSON what to do. It prints `ready`, is told the moment at which to begin, prints
what it saw as JSON, and stays until its input ends. Everything is sent when it is due, whether what came before was
answered or not, and times count from then on.
"""

import asyncio
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import orjson
import uvloop
from pycrdt import Doc, Text
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from app.http.live import frames

MESSAGES, EDITS = 2, 5  # a second in each room
PATIENCE_SECONDS = 20.0  # for all to arrive, after the last was sent
CONNECTING = 16  # at a time
HEAD_END, LENGTH = b"\r\n\r\n", b"content-length:"


class Person:
    """One side of a room: types in a copy of the document, talks, and notes what arrives."""

    def __init__(self, room: "Room") -> None:
        self.room = room
        self.doc: Any = Doc()
        self.text = self.doc.get("code", type=Text)
        self.heard: Counter[str] = Counter()
        self.acknowledged = self.saved = self.edits = 0
        self.synced, self.is_gone = asyncio.Event(), False
        self.socket: ClientConnection

    async def come(self, address: str) -> None:
        self.socket = await connect(address, max_size=None, open_timeout=30, compression=None)
        await self.socket.send(json.dumps({"type": "hello", "after": 0}))
        await self.socket.send(frames.sync(frames.ASK, self.doc.get_state()))
        self.listening = asyncio.create_task(self._listen())
        await asyncio.wait_for(self.synced.wait(), 30)

    async def say(self, due: float) -> None:
        id = str(uuid4())
        self.room.messages[id] = (self, due)
        await self.socket.send(orjson.dumps({"type": "message", "id": id, "content": "x" * 80}).decode())

    async def type(self, due: float, word: str) -> None:
        before = self.doc.get_state()
        self.text.insert(0 if self.edits % 2 else len(self.text), word)
        update = self.doc.get_update(before)
        self.edits += 1
        self.room.edits[update] = (self, due, word)
        await self.socket.send(frames.sync(frames.UPDATE, update))

    async def _listen(self) -> None:
        try:
            async for frame in self.socket:
                if isinstance(frame, bytes):
                    self._hear_bytes(frames.read(frame))
                else:
                    self._hear_words(orjson.loads(frame))
        except ConnectionClosed:
            pass
        self.is_gone = True

    def _hear_bytes(self, given: frames.Message) -> None:
        if given.kind == frames.AWARENESS or given.step == frames.ASK:
            return
        self.doc.apply_update(given.content)
        if given.step == frames.ANSWER:
            self.synced.set()
        elif given.content in self.room.edits:
            self._arrived(given.content)
        else:  # several, put together
            text = str(self.text)
            for update, (_, _, word) in list(self.room.edits.items()):
                if word in text:
                    self._arrived(update)

    def _arrived(self, update: bytes) -> None:
        sender, due, _ = self.room.edits[update]
        if sender is not self:
            del self.room.edits[update]
            self.room.took.append(time.monotonic() - due)

    def _hear_words(self, said: dict[str, Any]) -> None:
        if said["type"] == "events":
            for one in said["events"]:
                if one["id"] in self.room.messages:
                    sender, due = self.room.messages[one["id"]]
                    self.heard[one["id"]] += 1
                    if sender is not self:
                        self.room.took.append(time.monotonic() - due)
        elif said["type"] == "ack":
            self.acknowledged += 1
        elif said["type"] == "saved":
            self.saved = said["updates"]


class Room:
    """Two people, and what they have under way."""

    def __init__(self) -> None:
        self.messages: dict[str, tuple[Person, float]] = {}
        self.edits: dict[bytes, tuple[Person, float, str]] = {}  # that have not arrived yet
        self.words = 0  # that were typed, of eight characters each
        self.took: list[float] = []
        self.late: list[float] = []  # how much later than due something was sent
        self.people = (Person(self), Person(self))

    async def live(self, begin: float, seconds: float, place: float) -> None:
        """Talk and type; `place`, from 0 to 1, spreads the rooms over their common second."""
        acts = MESSAGES + EDITS
        for number in range(round(acts * seconds)):
            due = begin + (number + place) / acts
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            self.late.append(time.monotonic() - due)
            person = self.people[(number // acts + number) % 2]
            if number % acts < MESSAGES:
                await person.say(due)
            else:
                await person.type(due, f"{number:07d};")
                self.words += 1

    def is_whole(self) -> bool:
        """Say whether everything arrived at both, once, and each knows that its own is kept."""
        return not self.fault()

    def fault(self) -> str:
        """Say what is missing."""
        one, other = self.people
        texts = [str(each.text) for each in self.people]
        words = {texts[0][at : at + 8] for at in range(0, len(texts[0]), 8)}
        faults = {
            "a channel was lost": one.is_gone or other.is_gone,
            "edits did not arrive": bool(self.edits),
            "messages did not arrive once": any(
                each.heard != Counter(dict.fromkeys(self.messages, 1)) for each in self.people
            ),
            "something was not acknowledged": one.acknowledged + other.acknowledged != len(self.messages)
            or any(each.saved < each.edits for each in self.people),
            "documents differ": texts[0] != texts[1],
            "a word is missing or there twice": len(words) * 8 != len(texts[0]) or len(words) != self.words,
        }
        return next((name for name, is_so in faults.items() if is_so), "")


async def people(given: dict[str, Any], wait: Callable[[], Any]) -> dict[str, Any]:
    """Fill rooms, live in them for a while, and say how it went."""
    rooms = [Room() for _ in given["rooms"]]
    gate = asyncio.Semaphore(CONNECTING)

    async def come(person: Person, token: str) -> None:
        async with gate:
            await person.come(f"ws://127.0.0.1:{given['port']}/api/v1/candidate/interviews/{token}/live/")

    await asyncio.gather(
        *(
            come(person, token)
            for room, tokens in zip(rooms, given["rooms"], strict=True)
            for person, token in zip(room.people, tokens, strict=True)
        )
    )
    begin = await wait()
    living = (
        one.live(begin, given["seconds"], (place + 0.5) / len(rooms)) for place, one in enumerate(rooms)
    )
    faults = [one for one in await asyncio.gather(*living, return_exceptions=True) if one]
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until and not all(one.is_whole() for one in rooms):
        await asyncio.sleep(0.2)
    return {
        "faults": [repr(one) for one in faults] + [fault for one in rooms if (fault := one.fault())],
        "took": [took for one in rooms for took in one.took],
        "late": [late for one in rooms for late in one.late],
        "sent": sum(len(one.messages) + sum(each.edits for each in one.people) for one in rooms),
        "documents": [hashlib.sha256(str(one.people[0].text).encode()).hexdigest() for one in rooms],
        "messages": [len(one.messages) for one in rooms],
    }


async def asking(given: dict[str, Any], wait: Callable[[], Any]) -> dict[str, Any]:
    """Ask for one thing again and again, at a steady pace over a few connections; with a body, make one each time.

    The number of each stands in its body for `{number}`, as long as that is.
    """
    body = given.get("body", "")
    method, made = ("POST", "201") if body else ("GET", "200")
    head = f"{method} {given['path']} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {given['key']}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n" if body else "\r\n"
    free: asyncio.LifoQueue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.LifoQueue()
    for _ in range(given["connections"]):
        free.put_nowait(await asyncio.open_connection("127.0.0.1", given["port"]))
    took: list[float] = []
    faults: list[str] = []

    async def ask(due: float, number: int) -> None:
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        reader, writer = await free.get()
        writer.write((head + body.replace("{number}", f"{number:08}")).encode())
        answer = await reader.readuntil(HEAD_END)
        await reader.readexactly(int(answer.lower().partition(LENGTH)[2].partition(b"\r\n")[0]))
        took.append(time.monotonic() - due)
        if not answer.startswith(f"HTTP/1.1 {made}".encode()):
            faults.append(answer.split(b"\r\n")[0].decode())
        free.put_nowait((reader, writer))

    begin = await wait()
    count = round(given["rate"] * given["seconds"])
    await asyncio.gather(*(ask(begin + number / given["rate"], number) for number in range(count)))
    return {"faults": faults, "took": took}


async def main() -> None:
    """Do what the first line says."""
    given = json.loads(sys.stdin.readline())
    loop = asyncio.get_running_loop()

    async def wait() -> float:
        print("ready", flush=True)
        return float(await loop.run_in_executor(None, sys.stdin.readline))

    seen = await (people(given, wait) if "rooms" in given else asking(given, wait))
    print(json.dumps(seen), flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    uvloop.run(main())
