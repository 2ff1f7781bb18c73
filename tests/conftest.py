"""What every test may ask for."""

from tests.servers import database_url, migrated, redis_url, servers, settings

__all__ = ["database_url", "migrated", "redis_url", "servers", "settings"]
