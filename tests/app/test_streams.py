"""Answers that are made while they are sent: part by part, and not for ever."""

import asyncio
from collections.abc import Iterator
from typing import Any

from app.http import answers
from app.http.answers import Answer


def parts() -> Iterator[bytes]:
    yield b"two"
    yield b"three"


async def more(rest: Iterator[bytes]) -> bytes | None:
    return next(rest, None)


def sent(answer: Answer, *, head: bool = False) -> list[Any]:
    messages: list[Any] = []

    async def to(message: Any) -> None:
        messages.append(message)

    asyncio.run(answers.send(answer, to, more, head=head))
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
    _, body = sent(Answer(200, b"one", {}, "text/csv", rest), head=True)
    assert body == {"type": "http.response.body", "body": b""}
    assert next(rest) == b"two"


def test_what_is_whole_is_sent_with_its_length() -> None:
    start, body = sent(Answer(200, b"one", {}, "text/csv"))
    assert dict(start["headers"])[b"content-length"] == b"3"
    assert body == {"type": "http.response.body", "body": b"one"}
