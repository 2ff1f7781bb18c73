"""A webhook endpoint that answers after so many seconds and counts; asked, it prints its port, its count, or arrivals.

It is written close to the socket, so that it takes little of the core that it shares with what is measured. A line on
its input is answered with how many it has answered and the most connections it had; the line "arrivals" with a JSON
object of webhook-ids and the moments (Unix seconds) at which their first bytes came.
"""

import asyncio
import json
import sys
import time

DELAY = float(sys.argv[1])
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
LENGTH, ID, END = b"content-length:", b"webhook-id:", b"\r\n\r\n"


class Endpoint(asyncio.Protocol):
    """One connection with one request after the other."""

    count = open = most = 0
    arrivals: dict[str, float] = {}  # noqa: RUF012 - of all connections

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.read, self.came = transport, b"", 0.0
        Endpoint.open += 1
        Endpoint.most = max(Endpoint.most, Endpoint.open)

    def connection_lost(self, _fault: Exception | None) -> None:
        Endpoint.open -= 1

    def data_received(self, data: bytes) -> None:
        self.came = self.came or time.time()
        self.read += data
        head, end, body = self.read.partition(END)
        head = head.lower()
        if end and len(body) >= int(value(head, LENGTH)):
            Endpoint.arrivals.setdefault(value(head, ID).strip().decode(), self.came)
            self.read, self.came = b"", 0.0  # the next request comes after this one's answer
            asyncio.get_running_loop().call_later(DELAY, self.answer)

    def answer(self) -> None:
        Endpoint.count += 1
        self.transport.write(ANSWER)


def value(head: bytes, name: bytes) -> bytes:
    return head.partition(name)[2].partition(b"\r\n")[0]


async def main() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Endpoint, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        asked = line.strip() == "arrivals"
        print(json.dumps(Endpoint.arrivals if asked else [Endpoint.count, Endpoint.most]), flush=True)


asyncio.run(main())
