"""Everything the environment decides, read once."""

import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Settings:
    """One process's settings; every field has its environment variable in capitals."""

    database_url: str
    redis_url: str
    base_url: str
    # Any long random text, encrypts webhook secrets; several (comma-separated) while rotating.
    secret_key: str
    mail_dir: Path = Path(".data/mail")
    smtp_url: str = ""  # smtp://user:password@host:587 (STARTTLS) or smtps://…:465; empty writes .eml files
    smtp_plain: bool = False  # send mail without TLS where the server has none: for development
    mail_from: str = "Hiring <no-reply@localhost>"
    trusted_proxies: tuple[str, ...] = ()  # networks whose X-Forwarded-For is believed
    webhook_allow_private: bool = False
    candidate_limit: int = 600  # candidate requests per client address per minute
    client_connections: int = 512  # of one client address to one web process
    client_body_mib: int = 64  # of bodies that it sends to one web process at a time
    threads: int = 8  # request threads of one web process
    reads_at_once: int = 24  # requests that only read, which take no thread
    changes_at_once: int = 8  # requests whose change is one statement, which take none either
    network_threads: int = 8  # beside them, for requests that reach the network
    files_threads: int = 4  # and for those that reach files
    model_threads: int = 8  # and for those that wait for a model
    # Of candidates, that one process runs at a time; one more than cores, three at least.
    programs: int | None = None
    # Processes that wait for one of them; by the machine's memory, sixty at most.
    programs_ahead: int | None = None
    limit_share: float = 1.0  # of each limit, what one web process lets through while Redis does not answer
    request_seconds: float = 8.0  # a whole request, but for the time that its client takes to send it
    statement_seconds: float = 5.0  # what a request may wait for one statement
    lock_seconds: float = 2.0  # for a row that another request holds
    idle_seconds: float = 10.0  # what a request's transaction may wait for its next statement
    tcp_seconds: float = 10.0  # until a server's machine that says nothing counts as gone
    delivery_share: int = 64  # of a worker's 512 deliveries under way, what one organisation has at most
    grace_seconds: float = 20.0  # for what a worker has under way when it stops: longer than a delivery
    fast_path: bool = True  # carry ordinary requests out from the front (app/http/front.py)
    log_level: str = "INFO"
    files_dir: Path = Path(".data/files")  # where attachments are kept, unless in a bucket
    files_most_mb: int = 10_000  # that are kept for one organisation
    files_s3_bucket: str = ""  # the bucket of an S3-compatible store; empty keeps files in the folder
    files_s3_endpoint: str = ""  # empty is Amazon's own
    files_s3_region: str = ""
    files_s3_access_key: str = ""
    files_s3_secret_key: str = ""
    assistant_base_url: str = ""  # an OpenAI-compatible server, up to and with /v1; empty: no model
    assistant_model: str = ""
    assistant_api_key: str = ""
    ice_servers: tuple[
        str, ...
    ] = ()  # stun: and turn: servers of voice in interviews; empty: one network alone
    turn_secret: str = ""  # shared with those turn: servers, for passwords that expire
    plans: str = ""  # numbers of the plans to replace, as JSON: {"starter": {"invites": 50}}
    reference_key: str = ""  # a test key that /docs/ is filled in with, for everybody who sees it
    session_idle_hours: int = 12  # until a member who does nothing has to sign in again
    session_days: int = 14  # and whatever they do
    # A company's own sign-in by OpenID Connect, for the members of one organisation; empty: none.
    oidc_issuer: str = ""
    oidc_client_id: str = ""
    oidc_client_secret: str = ""
    oidc_organisation: str = ""  # the slug of that organisation
    oidc_name: str = "your company"  # as the page to sign in calls it
    oidc_allow_private: bool = False  # let it be at a private address, and by http
    metrics_port: int | None = None  # figures for Prometheus on a port of their own; 0: a free one
    metrics_host: str = "127.0.0.1"

    @property
    def programs_at_a_time(self) -> int:
        """How many programs of candidates one process runs at a time."""
        # One more than cores, since an organisation leaves one to others.
        return self.programs or max(2, os.cpu_count() or 2) + 1

    @property
    def programs_that_wait(self) -> int:
        """How many processes at most one process has wait for programs."""
        # Each takes some 12 MiB, and web processes share what the machine has: they get a twenty-fifth of it together.
        by_memory = min(60, int(_memory_mib() * self.limit_share) // 300)
        return by_memory if self.programs_ahead is None else self.programs_ahead


def _memory_mib() -> int:
    """Say how much memory this process may have: the machine's, or its container's if that is less."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            found.append(int(Path("/sys/fs/cgroup", name).read_text()))
    return min(found) >> 20


VARIABLES = {"threads": "WEB_THREADS"}  # where it is not the field's name in capitals
# How a field of a type is read.
READERS: dict[Any, Callable[[str], Any]] = {
    str: str,
    int: int,
    float: float,
    int | None: int,
    Path: Path,
    bool: lambda text: bool(("0", "1").index(text)),
    tuple[str, ...]: lambda text: tuple(part.strip() for part in text.split(",") if part.strip()),
}


def read(environ: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings; what is empty is not set. Raises KeyError naming what is missing, ValueError what is wrong."""
    values = {}
    for field in fields(Settings):
        variable = VARIABLES.get(field.name, field.name.upper())
        if text := environ.get(variable, ""):
            try:
                values[field.name] = READERS[field.type](text)
            except ValueError as fault:
                raise ValueError(f"{variable} cannot be {text!r}.") from fault
        elif field.default is MISSING:
            raise KeyError(variable)
    return Settings(**values | {"base_url": values["base_url"].rstrip("/")})


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
