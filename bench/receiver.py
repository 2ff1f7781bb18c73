"""A webhook endpoint that answers after so many seconds and counts; prints its port, then the count whenever asked.

It is written close to the socket, so that it takes little of the core that it shares with what is measured.
"""

import asyncio
import sys

DELAY = float(sys.argv[1])
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
LENGTH, END = b"content-length:", b"\r\n\r\n"


class Endpoint(asyncio.Protocol):
    """One connection with one request after the other."""

    count = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.read = transport, b""

    def data_received(self, data: bytes) -> None:
        self.read += data
        head, end, body = self.read.partition(END)
        if end and len(body) >= int(head.lower().partition(LENGTH)[2].partition(b"\r\n")[0]):
            self.read = b""  # the next request comes after this one's answer
            asyncio.get_running_loop().call_later(DELAY, self.answer)

    def answer(self) -> None:
        Endpoint.count += 1
        self.transport.write(ANSWER)


async def main() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Endpoint, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    while await loop.run_in_executor(None, sys.stdin.readline):
        print(Endpoint.count, flush=True)


asyncio.run(main())
