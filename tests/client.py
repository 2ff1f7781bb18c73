"""The application asked by a test: Starlette's client, with one hop to the loop and back for a request, not eight."""

import asyncio
from typing import Any
from urllib.parse import unquote

from starlette.testclient import TestClient, httpx  # the one of the two that its client is made of
from starlette.types import ASGIApp, Message


class Client(TestClient):
    """A client of an application in this process, used as a context: its loop runs as long as the block.

    An answer is there once it is whole: what never ends is asked of a server.
    """

    def __init__(
        self,
        app: ASGIApp,
        base_url: str,
        *,
        raise_server_exceptions: bool = True,
        client: tuple[str, int] = ("testclient", 50000),
    ) -> None:
        super().__init__(app, base_url=base_url)
        self._transport = _Transport(self, client, raises=raise_server_exceptions)


class _Transport(httpx.BaseTransport):
    def __init__(self, owner: TestClient, client: tuple[str, int], *, raises: bool) -> None:
        self.owner, self.client, self.raises = owner, client, raises
        self.loop: asyncio.AbstractEventLoop | None = None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self.loop is None or self.loop.is_closed():
            assert self.owner.portal, "the client is used as a context"
            self.loop = self.owner.portal.call(asyncio.get_running_loop)
        exchange = _Exchange(request, self.client, dict(self.owner.app_state))
        try:
            asyncio.run_coroutine_threadsafe(exchange.run(self.owner.app), self.loop).result()
        except Exception:
            if self.raises:
                raise
        return exchange.answer()


class _Exchange:
    """One request and its answer."""

    def __init__(self, request: httpx.Request, client: tuple[str, int], state: dict[str, Any]) -> None:
        self.request = request
        self.body: bytes | None = request.read()  # until the application has it
        self.status = 500
        self.headers: list[tuple[bytes, bytes]] = []
        self.parts: list[bytes] = []
        self.ended = asyncio.Event()
        url = request.url
        self.scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": request.method,
            "scheme": url.scheme, "path": unquote(url.path), "raw_path": url.raw_path.partition(b"?")[0],
            "query_string": url.query, "root_path": "", "client": client,
            "headers": [(name.lower(), value) for name, value in request.headers.raw],
            "server": (url.host, url.port or {"http": 80, "https": 443}[url.scheme]), "state": state,
        }  # fmt: skip

    async def run(self, app: ASGIApp) -> None:
        await app(self.scope, self.receive, self.send)

    async def receive(self) -> Message:
        if self.body is None:
            await self.ended.wait()
            return {"type": "http.disconnect"}
        body, self.body = self.body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], list(message.get("headers", ()))
        elif message["type"] == "http.response.body":
            if self.request.method != "HEAD":
                self.parts.append(bytes(message.get("body", b"")))
            if not message.get("more_body", False):
                self.ended.set()

    def answer(self) -> httpx.Response:
        stream = httpx.ByteStream(b"".join(self.parts))
        return httpx.Response(self.status, headers=self.headers, stream=stream, request=self.request)
