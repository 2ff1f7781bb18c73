"""Answers that are made while they are sent: part by part, and not for ever."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.datastructures import Headers

from app.http import answers, context
from app.http.answers import Answer


def parts() -> Iterator[bytes]:
    yield b"two"
    yield b"three"


async def more(rest: Iterator[bytes]) -> bytes | None:
    return next(rest, None)


def sent(answer: Answer, *, method: str = "GET", whole: context.Whole | None = None) -> list[Any]:
    messages: list[Any] = []

    async def to(message: Any) -> None:
        messages.append(message)

    request = context.Request(
        "", "", method, "/", b"", Headers(), whole=whole, headers={"X-Request-Id": "req_1"}
    )
    asyncio.run(answers.send(answer, to, request, more))
    return messages


def test_parts_go_out_one_after_the_other_and_their_length_is_not_told() -> None:
    start, *bodies = sent(Answer(200, b"one", {}, "text/csv", parts()))
    assert b"content-length" not in dict(start["headers"])
    assert [(one["body"], one.get("more_body", False)) for one in bodies] == [
        (b"one", True),
        (b"two", True),
        (b"three", True),
        (b"", False),
    ]


def test_head_makes_no_part_but_the_first() -> None:
    rest = parts()
    _, body = sent(Answer(200, b"one", {}, "text/csv", rest), method="HEAD")
    assert body == {"type": "http.response.body", "body": b""}
    assert next(rest) == b"two"


@pytest.mark.parametrize(("method", "body"), [("GET", b"one"), ("HEAD", b"")])
def test_what_is_whole_goes_to_the_server_at_once_with_all_that_is_said_of_it(
    method: str, body: bytes
) -> None:
    given: list[Any] = []

    def whole(status: int, headers: list[tuple[str, str]], body: bytes) -> bool:
        given.append((status, dict(headers), body))
        return True

    assert not sent(Answer(200, b"one", {"Vary": "Accept"}, "text/csv"), method=method, whole=whole)
    said = {"Vary": "Accept", "Content-Type": "text/csv", "Content-Length": "3", "X-Request-Id": "req_1"}
    assert given == [(200, said, body)]


def test_what_has_to_wait_for_what_was_sent_before_goes_the_usual_way() -> None:
    start, body = sent(Answer(200, b"one", {}, "text/csv"), whole=lambda *_: False)
    assert start["status"] == 200
    assert body == {"type": "http.response.body", "body": b"one"}


def test_parts_are_never_taken_for_the_whole() -> None:
    assert len(sent(Answer(200, b"one", {}, "text/csv", parts()), whole=lambda *_: True)) == 5


def test_what_is_whole_is_sent_with_its_length() -> None:
    start, body = sent(Answer(200, b"one", {}, "text/csv"))
    assert dict(start["headers"])[b"content-length"] == b"3"
    assert body == {"type": "http.response.body", "body": b"one"}
