"""What no other station answers, the entrance does."""

import asyncio
from typing import Any

import orjson
import pytest

from app.http import refusals
from app.http.records.entrance import Entrance


async def nothing() -> Any:
    return {"type": "http.request", "body": b"", "more_body": False}


def asked(app: Any, method: str = "GET") -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": "/api/v1/public/org/",
        "query_string": b"",
        "headers": [],
    }
    entrance = Entrance(app, trusted_proxies=(), origin="https://here", refuse=refusals.answer)
    asyncio.run(entrance(scope, nothing, send))
    return sent


def test_a_station_that_breaks_is_answered_in_the_contracts_envelope() -> None:
    async def breaks(*_: Any) -> None:
        raise RuntimeError("secret of ours")

    start, body = asked(breaks)
    headers = dict(start["headers"])
    error = orjson.loads(body["body"])["error"]
    assert (start["status"], error["code"]) == (500, "INTERNAL_ERROR")
    assert error["details"]["request_id"] == headers[b"x-request-id"].decode()
    assert headers[b"access-control-allow-origin"] == b"https://here"
    assert b"secret" not in body["body"]


def test_what_breaks_in_the_midst_of_an_answer_is_no_second_answer() -> None:
    async def breaks(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError

    with pytest.raises(RuntimeError):  # the server ends the connection
        asked(breaks)
