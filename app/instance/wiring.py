"""The one place that hands settings to the modules which need them."""

from app.instance import logs
from app.instance.settings import Settings
from gateways import files, mail, models, openid, sandbox, webhooks
from rules import links, plans, voice
from schemas import reference
from store.accounts import limits, room, signed_in
from store.assessing import queueing
from store.database import engine, secrets
from store.database.waits import Waits
from store.interviewing import news
from store.operating import tables


def configure(
    settings: Settings,
    *,
    pool_size: int = 8,
    loop_readers: int = 4,
    loop_writers: int = 4,
    for_requests: bool = False,
) -> None:
    """Configure a process: logs, store, limiter, links, secrets, what goes out.

    `for_requests`: somebody waits for each answer, so that no statement may take long.
    """
    logs.configure(settings.log_level)
    links.configure(settings.base_url)
    reference.configure(settings.reference_key)
    voice.configure(settings.ice_servers, secret=settings.turn_secret)
    if settings.plans:
        plans.override(settings.plans)
    tables.complete()
    waits = patience(settings, for_requests=for_requests)
    engine.configure(
        settings.database_url,
        pool_size=pool_size,
        loop_readers=loop_readers,
        loop_writers=loop_writers,
        limits=waits,
    )
    limits.configure(settings.redis_url, limits=waits, share=settings.limit_share)
    news.configure(settings.redis_url, limits=waits)
    queueing.configure(settings.redis_url, limits=waits)
    secrets.configure(settings.secret_key)
    mail.configure(
        smtp_url=settings.smtp_url,
        smtp_plain=settings.smtp_plain,
        mail_from=settings.mail_from,
        mail_dir=settings.mail_dir,
    )
    webhooks.configure(allow_private=settings.webhook_allow_private)
    files.configure(_store(settings))
    sandbox.configure(at_a_time=settings.programs_at_a_time, ahead=settings.programs_that_wait)
    room.configure(most_mb=settings.files_most_mb)
    signed_in.configure(idle_hours=settings.session_idle_hours, longest_days=settings.session_days)
    openid.configure(
        issuer=settings.oidc_issuer,
        client_id=settings.oidc_client_id,
        client_secret=settings.oidc_client_secret,
        organisation=settings.oidc_organisation,
        name=settings.oidc_name,
        allow_private=settings.oidc_allow_private,
    )
    models.configure(
        base_url=settings.assistant_base_url,
        model=settings.assistant_model,
        api_key=settings.assistant_api_key,
    )


def patience(settings: Settings, *, for_requests: bool) -> Waits:
    """Return how long a process waits for the database, and for Redis."""
    if not for_requests:
        return Waits(tcp=settings.tcp_seconds)
    return Waits(
        statement=settings.statement_seconds,
        lock=settings.lock_seconds,
        idle=settings.idle_seconds,
        tcp=settings.tcp_seconds,
    )


def _store(settings: Settings) -> files.Store:
    if not settings.files_s3_bucket:
        return files.Folder(settings.files_dir)
    from gateways.buckets import Bucket

    return Bucket(
        settings.files_s3_bucket,
        endpoint=settings.files_s3_endpoint,
        region=settings.files_s3_region,
        access_key=settings.files_s3_access_key,
        secret_key=settings.files_s3_secret_key,
    )
