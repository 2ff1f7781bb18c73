"""The servers that the tests themselves use."""

import os

import psycopg
import redis


def test_a_worker_has_a_migrated_database_of_its_own(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT count(*) FROM alembic_version").fetchone() == (1,)
        assert connection.info.dbname.startswith(f"test_{os.getpid()}_")
        assert connection.execute(
            "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"
        ).fetchone() == (False,)


def test_a_worker_has_a_redis_number_of_its_own(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        assert client.ping()
        assert client.get_connection_kwargs()["db"] != 0


def test_letters_beyond_ascii_compare_without_case(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT 'ÄRZTIN ŁÓDŹ' ILIKE '%ärztin łódź%'").fetchone() == (True,)
