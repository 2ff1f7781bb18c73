"""The servers that the tests themselves use."""

import psycopg
import redis


def test_a_worker_has_a_migrated_database_of_its_own(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT count(*) FROM organisations").fetchone() == (0,)
        assert connection.execute(
            "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"
        ).fetchone() == (False,)


def test_a_worker_has_an_empty_redis_number_of_its_own(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        assert client.dbsize() == 0


def test_letters_beyond_ascii_compare_without_case(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT 'ÄRZTIN ŁÓDŹ' ILIKE '%ärztin łódź%'").fetchone() == (True,)
