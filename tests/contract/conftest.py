"""The running service: a server process of its own, with an organisation whose limits do not end the run."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest

import store
from app.instance.listening import listen
from app.instance.settings import ROOT, Settings, environment
from app.instance.wiring import configure
from store.accounts import keys, organisations
from tests import receiver
from tests.providers import provider

SERVE = """
import socket, sys
from app.http import server as web
from app.instance import settings
web.serve(settings.read(), socket.socket(fileno=int(sys.argv[1])))
"""
MANY = 1_000_000_000
PLANS = {
    "enterprise": {"reads": MANY, "writes": MANY},
    "caps": {"bulk_invite": MANY, "bulk_enroll": MANY, "public_api_assistant": MANY, "briefs": MANY},
}


@dataclass(frozen=True)
class Service:
    """Where the service is, and its environment for a process that is to reach into it."""

    base_url: str
    keys: dict[str, str]
    environ: dict[str, str]


@pytest.fixture(scope="session")
def service(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Serve this worker's database over HTTP."""
    listener = listen("127.0.0.1", 0)
    own = replace(settings, base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", plans=json.dumps(PLANS))
    configure(own)
    environ = {
        **os.environ,
        **environment(own),
        "PLANS": own.plans,
        "CANDIDATE_LIMIT": str(MANY),
        # Requests that count by the address of their client say where they come from.
        "TRUSTED_PROXIES": "127.0.0.0/8",
        "PYTHONPATH": str(ROOT),
        "ASSISTANT_BASE_URL": provider().url,
        "ASSISTANT_MODEL": "echo",
    }
    log: Path = tmp_path_factory.mktemp("server") / "log"
    command = [sys.executable, "-c", SERVE, str(listener.fileno())]
    with (
        receiver.running() as hook,
        log.open("w") as output,
        subprocess.Popen(
            command,
            env=environ | {"LOG_LEVEL": "ERROR"},
            pass_fds=[listener.fileno()],
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
        ) as process,
    ):
        listener.close()
        try:
            httpx.get(f"{own.base_url}/api/v1/public/openapi.json", timeout=60).raise_for_status()
            yield Service(own.base_url, _keys(), environ | {"HOOK_URL": hook.url})
        finally:
            process.terminate()
            print(log.read_text()[-20_000:])


def _keys() -> dict[str, str]:
    with store.transaction() as session:
        organisation, world = (
            organisations.create(session, name=name, plan="enterprise")
            for name in ("Northwind Labs", "World")
        )
        return {
            mode: keys.create(session, organisation=whose, name=mode, livemode=mode == "live")[1]
            for mode, whose in (("live", organisation), ("test", organisation), ("world", world))
        }
