"""A server of a test's in a process of its own, which prints its port and serves until its standard input ends."""

import atexit
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from app.instance.settings import ROOT


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no news."""


def start(module: str) -> int:
    """Start a module that serves, and return its port; it ends with this process."""
    process = subprocess.Popen(
        [sys.executable, "-m", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    atexit.register(process.wait)
    assert process.stdin
    atexit.register(process.stdin.close)  # before that
    assert process.stdout
    return int(process.stdout.readline())


def serve(handler: type[BaseHTTPRequestHandler]) -> None:
    """Be such a process."""
    server = Server(("127.0.0.1", 0), handler)
    print(server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
