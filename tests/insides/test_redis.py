"""What broke, in one sentence, when redis-py changes below us."""

import redis

from insides.redis import Script

COUNT = "return redis.call('INCRBY', KEYS[1], ARGV[1])"


def test_a_script_runs_on_the_threads_own_connection(redis_url: str) -> None:
    client = redis.Redis.from_url(redis_url)
    client.delete("insides")
    script = Script(client, COUNT)
    assert script.run(["insides"], [2]) == 2  # Redis does not know it yet
    assert [script.run(["insides"], [1]) for _ in range(3)] == [3, 4, 5], (
        "A connection of redis-py no longer sends a command and reads its answer by itself."
    )


def test_a_script_that_redis_forgot_is_loaded_again(redis_url: str) -> None:
    client = redis.Redis.from_url(redis_url)
    client.delete("insides")
    script = Script(client, COUNT)
    script.run(["insides"], [1])
    client.script_flush()
    assert script.run(["insides"], [1]) == 2, "redis-py no longer loads a script that Redis has forgotten."


def test_a_connection_that_was_closed_is_made_anew(redis_url: str) -> None:
    client = redis.Redis.from_url(redis_url)
    client.delete("insides")
    script = Script(client, COUNT)
    assert [script.run(["insides"], [1]) for _ in range(2)] == [1, 2]
    for one in client.client_list():
        if int(one["id"]) != client.client_id():
            client.client_kill_filter(_id=one["id"])
    assert [script.run(["insides"], [1]) for _ in range(2)] == [3, 4], (
        "A closed connection of redis-py no longer raises ConnectionError, or is not opened again."
    )
