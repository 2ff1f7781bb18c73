"""The one place that hands settings to the modules which need them."""

from app import limits as request_limits
from app import logs
from app.settings import Settings
from rules import links
from store import engine, limits


def configure(settings: Settings, *, pool_size: int = 8) -> None:
    """Configure a process: logs, store, limiter, links."""
    logs.configure(settings.log_level)
    links.configure(settings.base_url)
    engine.configure(settings.database_url, pool_size=pool_size)
    limits.configure(settings.redis_url)
    request_limits.configure(settings.candidate_limit)
