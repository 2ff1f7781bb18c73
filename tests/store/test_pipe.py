"""Redis from an event loop: many questions on one connection, and none waits for an answer that does not come."""

import asyncio
from typing import Any

import pytest
import redis

from store.database import greenlets
from store.database.pipe import Pipe
from store.database.waits import USUAL

ECHO = "return {KEYS[1], tonumber(ARGV[1])}"
PATIENCE = 0.2


def pipe(url: str, script: str = ECHO) -> Pipe:
    return Pipe(url, script, patience=PATIENCE, limits=USUAL)


def answers(way: Pipe, *questions: tuple[list[str], list[int]]) -> list[Any]:
    async def asked() -> list[Any]:
        waiting = (greenlets.run(way.run, keys, numbers) for keys, numbers in questions)
        return await asyncio.gather(*waiting, return_exceptions=True)

    return asyncio.run(asked())


def test_each_has_its_own_answer(redis_url: str) -> None:
    found = answers(pipe(redis_url), *[([f"key-{number}"], [number]) for number in range(100)])
    assert found == [[f"key-{number}".encode(), number] for number in range(100)]


def test_a_script_that_redis_forgot_is_sent_again(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        client.script_flush()
    assert answers(pipe(redis_url), (["a"], [1])) == [[b"a", 1]]


def test_a_fault_is_its_own_and_others_have_answers(redis_url: str) -> None:
    script = "if ARGV[1] == '1' then return redis.error_reply('It is one') end return 2"
    one, two = answers(pipe(redis_url, script), (["a"], [1]), (["a"], [2]))
    assert isinstance(one, redis.ResponseError)
    assert two == 2


def test_who_is_not_there_is_an_error_at_once() -> None:
    (fault,) = answers(pipe("redis://127.0.0.1:1/0"), (["a"], [1]))
    assert isinstance(fault, redis.ConnectionError)


@pytest.mark.parametrize("others", [0, 20])
def test_nobody_waits_longer_than_there_is_patience_and_the_next_is_heard(others: int) -> None:
    async def mute(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async def asked() -> list[Any]:
        server = await asyncio.start_server(mute, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        way = pipe(f"redis://127.0.0.1:{port}/0")
        waiting = (greenlets.run(way.run, ["a"], [1]) for _ in range(1 + others))
        return await asyncio.gather(*waiting, return_exceptions=True)

    found = asyncio.run(asked())
    assert all(isinstance(one, redis.TimeoutError | redis.ConnectionError) for one in found)


def test_those_who_ask_first_at_the_same_time_share_one_connection(redis_url: str) -> None:
    way = pipe(redis_url)

    async def asked() -> int:
        with redis.Redis.from_url(redis_url) as client:
            number = client.client_info()["db"]  # this worker's alone: others come and go beside it

            def here() -> set[str]:
                return {one["id"] for one in client.client_list() if one["db"] == str(number)}

            before = here()
            await asyncio.gather(*(greenlets.run(way.run, ["a"], [1]) for _ in range(20)))
            for _ in range(100):  # turns of the loop, in which the others' are closed
                if len(here() - before) == 1:
                    break
                await asyncio.sleep(0.01)
            return len(here() - before)

    assert asyncio.run(asked()) == 1


def test_a_connection_that_is_never_let_in_is_closed() -> None:
    async def asked() -> bool:
        ended = asyncio.Event()

        async def mute(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
            while await reader.read(100):  # until the other side closes
                pass
            ended.set()

        server = await asyncio.start_server(mute, "127.0.0.1", 0)
        way = pipe(f"redis://:secret@127.0.0.1:{server.sockets[0].getsockname()[1]}/3")
        with pytest.raises(redis.RedisError):
            await greenlets.run(way.run, ["a"], [1])
        await asyncio.wait_for(ended.wait(), 30)
        return True

    assert asyncio.run(asked())


def test_a_connection_that_redis_closed_is_made_anew(redis_url: str) -> None:
    way = pipe(redis_url)

    async def asked() -> list[Any]:
        before = await greenlets.run(way.run, ["a"], [1])
        with redis.Redis.from_url(redis_url) as client:
            for one in client.client_list():
                if one["name"] == "" and one["cmd"] in ("evalsha", "eval"):
                    client.client_kill_filter(_id=one["id"])
        for _ in range(10):  # turns of the loop, in which the end is seen
            await asyncio.sleep(0.001)
        return [before, await greenlets.run(way.run, ["b"], [2])]

    assert asyncio.run(asked()) == [[b"a", 1], [b"b", 2]]
