"""The one place that hands settings to the modules which need them."""

from app import logs
from app.settings import Settings
from gateways import mail, webhooks
from rules import links, plans
from store import engine, limits, secrets


def configure(settings: Settings, *, pool_size: int = 8) -> None:
    """Configure a process: logs, store, limiter, links, secrets, what goes out."""
    logs.configure(settings.log_level)
    links.configure(settings.base_url)
    if settings.plans:
        plans.override(settings.plans)
    engine.configure(settings.database_url, pool_size=pool_size)
    limits.configure(settings.redis_url)
    secrets.configure(settings.secret_key)
    mail.configure(smtp_url=settings.smtp_url, mail_from=settings.mail_from, mail_dir=settings.mail_dir)
    webhooks.configure(allow_private=settings.webhook_allow_private)
