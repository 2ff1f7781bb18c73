"""An organisation that asks over fifty connections as fast as it is answered: `python -m tests.faults.crowd`.

It has a machine of its own in life, and must cost little of the one that serves here: it writes plain bytes, and reads
no more of an answer than its status and its length.
"""

import asyncio
import itertools
import json
import signal
import sys
from collections import Counter
from urllib.parse import urlsplit

CONNECTIONS = 50
WRITES = 5  # of them


async def ask(key: str, slug: str, *bases: str) -> Counter[int]:
    """Ask until somebody interrupts; return how often each status was answered."""
    answers = Counter[int]()
    numbers = itertools.count(1)
    place = f"/api/v1/public/assessments/{slug}/"

    def written(host: str, *, writes: bool) -> bytes:
        body = json.dumps({"email": f"crowd-{next(numbers)}@example.com"}) if writes else ""
        line = f"POST {place}invites/" if writes else f"GET {place}"
        typed = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if writes else ""
        return f"{line} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n{typed}\r\n{body}".encode()

    async def one(base: str, *, writes: bool) -> None:
        host = urlsplit(base).netloc
        name, port = host.rsplit(":", 1)
        reader, writer = await asyncio.open_connection(name, int(port))
        while True:
            writer.write(written(host, writes=writes))
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            await reader.readexactly(int(head.split(b"\r\ncontent-length:")[1].split(b"\r\n")[0]))
            answers[int(head[9:12])] += 1
            if answers.total() == CONNECTIONS:
                print("asking", flush=True)
            if b"\r\nconnection: close" in head:
                writer.close()
                reader, writer = await asyncio.open_connection(name, int(port))

    asking = [
        asyncio.ensure_future(one(bases[number % len(bases)], writes=number < WRITES))
        for number in range(CONNECTIONS)
    ]
    try:
        await asyncio.gather(*asking)
    except asyncio.CancelledError:
        return answers
    return answers


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has it ignored in its background
    print(f"the crowd was answered {dict(asyncio.run(ask(*sys.argv[1:])))}")
