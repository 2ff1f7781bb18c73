"""Everything the environment decides, read once."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Settings:
    """One process's settings; every field has its environment variable in capitals."""

    database_url: str
    redis_url: str
    base_url: str
    mail_dir: Path
    secret_key: (
        str  # any long random text, encrypts webhook secrets; several (comma-separated) while rotating
    )
    smtp_url: str = (
        ""  # smtp://user:password@host:587 (STARTTLS) or smtps://…:465; empty writes .eml files instead
    )
    smtp_plain: bool = False  # send mail without TLS where the server has none: for development
    mail_from: str = "Hiring <no-reply@localhost>"
    trusted_proxies: tuple[str, ...] = ()  # networks whose X-Forwarded-For is believed
    webhook_allow_private: bool = False
    candidate_limit: int = 600  # candidate requests per client address per minute
    threads: int = 8  # request threads of one web process
    fast_path: bool = True  # carry ordinary requests out from the front (app/http/front.py)
    log_level: str = "INFO"
    files_dir: Path = Path(".data/files")  # where attachments are kept, unless in a bucket
    files_s3_bucket: str = ""  # the bucket of an S3-compatible store; empty keeps files in the folder
    files_s3_endpoint: str = ""  # empty is Amazon's own
    files_s3_region: str = ""
    files_s3_access_key: str = ""
    files_s3_secret_key: str = ""
    assistant_base_url: str = ""  # an OpenAI-compatible server, up to and with /v1; empty: no model
    assistant_model: str = ""
    assistant_api_key: str = ""
    plans: str = ""  # numbers of the plans to replace, as JSON: {"starter": {"invites": 50}}
    metrics_port: int | None = (
        None  # figures for Prometheus on a port of their own; 0: a free one; None: nowhere
    )
    metrics_host: str = "127.0.0.1"


def read(environ: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings, or raise KeyError naming the variable that is missing."""
    return Settings(
        database_url=environ["DATABASE_URL"],
        redis_url=environ["REDIS_URL"],
        base_url=environ["BASE_URL"].rstrip("/"),
        mail_dir=Path(environ.get("MAIL_DIR", ".data/mail")),
        secret_key=environ["SECRET_KEY"],
        smtp_url=environ.get("SMTP_URL", ""),
        smtp_plain=environ.get("SMTP_PLAIN") == "1",
        mail_from=environ.get("MAIL_FROM", Settings.mail_from),
        trusted_proxies=tuple(
            part.strip() for part in environ.get("TRUSTED_PROXIES", "").split(",") if part.strip()
        ),
        webhook_allow_private=environ.get("WEBHOOK_ALLOW_PRIVATE") == "1",
        candidate_limit=int(environ.get("CANDIDATE_LIMIT", Settings.candidate_limit)),
        threads=int(environ.get("WEB_THREADS", Settings.threads)),
        fast_path=environ.get("FAST_PATH", "1") != "0",
        log_level=environ.get("LOG_LEVEL", Settings.log_level),
        files_dir=Path(environ.get("FILES_DIR", Settings.files_dir)),
        files_s3_bucket=environ.get("FILES_S3_BUCKET", ""),
        files_s3_endpoint=environ.get("FILES_S3_ENDPOINT", ""),
        files_s3_region=environ.get("FILES_S3_REGION", ""),
        files_s3_access_key=environ.get("FILES_S3_ACCESS_KEY", ""),
        files_s3_secret_key=environ.get("FILES_S3_SECRET_KEY", ""),
        assistant_base_url=environ.get("ASSISTANT_BASE_URL", ""),
        assistant_model=environ.get("ASSISTANT_MODEL", ""),
        assistant_api_key=environ.get("ASSISTANT_API_KEY", ""),
        plans=environ.get("PLANS", ""),
        metrics_port=int(environ["METRICS_PORT"]) if environ.get("METRICS_PORT") else None,
        metrics_host=environ.get("METRICS_HOST", Settings.metrics_host),
    )


def environment(settings: Settings) -> dict[str, str]:
    """Return the variables from which another process reads the same instance."""
    return {
        "DATABASE_URL": settings.database_url,
        "REDIS_URL": settings.redis_url,
        "BASE_URL": settings.base_url,
        "MAIL_DIR": str(settings.mail_dir),
        "FILES_DIR": str(settings.files_dir),
        "SECRET_KEY": settings.secret_key,
        "WEBHOOK_ALLOW_PRIVATE": "1" if settings.webhook_allow_private else "0",
    }
