"""The web process: the application under uvicorn."""

import gc
import os
import socket
import sys
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

import insides.connexion
from app.instance import children, metrics
from app.instance import settings as environment
from app.instance.settings import Settings
from gateways import open_files
from store.database import engine

KEPT_SECONDS = 75  # for the next request on a connection
# A request makes some hundred objects that garbage is looked for among, and hardly ever leaves any.
GARBAGE = (20_000, 20, 100)
SWITCH_SECONDS = 0.001  # within which a thread that computes lets the loop go on, and whoever's turn it is


def application() -> Any:
    """Make the application from the environment: what each of several processes calls."""
    if parent_process() is not None:
        children.die_with_parent()
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.disable()  # as `hiring web` did already where it serves by itself
    from app.http.application import create_app  # only the process that serves loads the whole of it

    made = create_app(environment.read())
    chain = insides.connexion.build(made)
    gc.freeze()  # to look for garbage in what stays would be a pause in requests
    gc.set_threshold(*GARBAGE)
    gc.enable()
    return chain


def config(application: Any, *, processes: int = 1) -> Any:
    """Return how uvicorn serves: an application, or the name of what makes one."""
    import uvicorn  # `up` only listens

    return uvicorn.Config(
        application,
        factory=isinstance(application, str),
        workers=processes,
        loop="uvloop",
        interface="asgi3",
        http="app.http.wire:Protocol",
        ws="app.http.wire:Socket",
        ws_max_size=1 << 20,
        ws_ping_interval=20,
        ws_ping_timeout=20,
        ws_per_message_deflate=False,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=5,
        # Longer than clients and proxies keep theirs: who sends a request as its connection ends has no answer.
        timeout_keep_alive=KEPT_SECONDS,
        # A process that loads the documents on a busy machine does not answer its parent for a while.
        timeout_worker_healthcheck=20,
    )


def serve(
    settings: Settings, listener: socket.socket, *, processes: int = 1, folder: Path | None = None
) -> None:
    """Answer requests on a listening socket until SIGTERM; requests under way get five seconds to finish.

    `folder` is told the port of the figures.
    """
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    open_files.allow(open_files.WEB)
    os.environ.update(environment.environment(settings))
    os.environ.setdefault("LIMIT_SHARE", str(1 / processes))
    with metrics.together(processes):
        if settings.metrics_port is not None:
            # For the figures, until the application does.
            engine.configure(settings.database_url, pool_size=2)
            metrics.serve(settings, "web", folder=folder)
        configured = config("app.http.server:application", processes=processes)
        if processes > 1:
            gc.enable()  # the application is in the processes below
            Multiprocess(configured, sockets=[listener]).run()
        else:
            uvicorn.Server(configured).run(sockets=[listener])
