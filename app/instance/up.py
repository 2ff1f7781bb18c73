"""`hiring up`: everything on one machine, started in order, watched, and stopped in the opposite order."""

import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import FrameType

import click

from app.instance import (
    announce,
    children,
    demo_keys,
    embedded,
    listening,
    opening,
    places,
    prepared,
    settings,
)
from app.instance.children import Recipe
from app.instance.embedded import Servers
from app.instance.places import Places
from app.instance.trouble import Trouble

LONGEST_PAUSE = 30.0
STEADY = 60.0  # a process that ran for this long is started again at once
PATIENCE = 5.0  # what web, worker and schedule may take to stop, beside the grace for what they are doing


class Stopped(BaseException):
    """Somebody asked us to stop."""


@dataclass
class Watched:
    """A process, and when it may be started again."""

    recipe: Recipe
    process: subprocess.Popen[bytes]
    started: float
    pause: float = 0.0
    due: float | None = None  # when it is down


def run(
    data: Path, *, host: str, port: int, as_json: bool, metrics: bool = False, durable: bool = True
) -> None:
    """Run an instance until Ctrl-C or SIGTERM."""
    os.environ.setdefault("WEBHOOK_ALLOW_PRIVATE", "1")
    where = places.settle(data)
    if not os.environ.get("SECRET_KEY"):
        places.make_secret_key(where)
    try:
        with _stoppable(), listening.listen(host, port) as listener:
            _say(f"Starting in {where.data} …")
            if where.state != where.data:
                _say(f"Its servers cannot run below a private folder: they keep theirs in {where.state}")
            # Loading takes web as long as it takes the servers to be ready, and us.
            figures = {"METRICS_PORT": "0" if metrics else ""}  # one port cannot be that of three processes
            ahead = _recipe(where, listener, ["web", "--waits"], os.environ | figures)
            loading = threading.Thread(target=import_module, args=["store.operating.migrate"], daemon=True)
            loading.start()
            with _begun(ahead) as web, _servers(where, durable=durable) as servers:
                loading.join()  # who asks the store for something meanwhile finds half of what is mapped
                _run(where, servers, listener, web, as_json=as_json, more=figures)
    except Stopped:
        _say("Stopped.")


def _run(
    where: Places,
    servers: Servers,
    listener: socket.socket,
    web: subprocess.Popen[bytes],
    *,
    as_json: bool,
    more: dict[str, str],
) -> None:
    base_url = os.environ.get("BASE_URL") or listening.url(listener)
    servers.publish(base_url=base_url)
    places.keep_base_url(where, base_url)
    made = opening.assemble(where, embedded.published(where))
    servers.publish(base_url=base_url, postgres=made.database_url, redis=made.redis_url)
    demo = _demo(where, made.database_url)
    environ = os.environ | settings.environment(made) | more
    if not os.environ.get("REFERENCE_KEY") and listening.is_private(listener, base_url):
        environ["REFERENCE_KEY"] = demo["test_key"]
    first, *others = (_recipe(where, listener, [one], environ) for one in ("web", "work", "schedule"))
    watched = [Watched(first, web, time.monotonic())]
    try:
        children.tell(web, environ)
        link = demo_keys.sign_in_link(made.database_url, base_url)
        _await_web(listener, watched[0])
        for recipe in others:  # what they do waits for a request; until then processors are web's
            watched.append(Watched(recipe, children.spawn(recipe), time.monotonic()))
        announce.ready(where, base_url, demo, link, as_json=as_json)
        _watch(servers, watched)
    finally:
        for one in watched:
            children.ask(one.process, one.recipe.stop)
        for one in watched:
            children.stop(one.process, one.recipe.stop, patience=PATIENCE + made.grace_seconds)


def _demo(where: Places, database_url: str) -> dict[str, str]:
    """Return the demo keys of a database that is up to date, bringing it there when something has changed."""
    embedded_database = "postgres" in opening.wanted()
    kept = demo_keys.kept(where)
    if kept and embedded_database and prepared.holds(where):
        return kept
    made = demo_keys.prepare(where, database_url)
    if embedded_database:
        prepared.note(where)
    return made


def _recipe(where: Places, listener: socket.socket, words: list[str], environ: dict[str, str]) -> Recipe:
    is_web = words[0] == "web"
    words = [*words, *(["--fd", str(listener.fileno())] if is_web else [])]
    return Recipe(
        name=words[0],
        command=[sys.executable, "-P", "-m", "app.cli", *words, "--data", str(where.data)],
        log=where.logs / f"{words[0]}.log",
        environ=environ,
        descriptors=[listener.fileno()] if is_web else [],
    )


@contextmanager
def _begun(recipe: Recipe) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process that waits to be told; it ends with the block."""
    process = children.spawn(recipe, waits=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            children.stop(process, recipe.stop, patience=PATIENCE)


@contextmanager
def _servers(where: Places, *, durable: bool) -> Iterator[Servers]:
    """Run the servers, waiting for a short command that is using them now."""
    deadline = time.monotonic() + 30
    with ExitStack() as stack:
        while True:
            try:
                servers = stack.enter_context(
                    embedded.own(where, opening.wanted(), kind="up", wait_for_users=False, durable=durable)
                )
                break
            except embedded.Busy as busy:
                owner = embedded.owner(where)
                if owner.get("kind") == "up":
                    running = embedded.published(where).get("base_url", "still starting")
                    raise Trouble(
                        f"{where.data} is running already ({running}, process {owner['pid']}). Use that one,"
                        " stop it, or choose another folder with --data."
                    ) from busy
                if time.monotonic() > deadline:
                    raise Trouble(
                        f"Process {owner.get('pid')} is using {where.data}; stop it first."
                    ) from busy
                time.sleep(0.1)
        yield servers


def _await_web(listener: socket.socket, web: Watched) -> None:
    """Return once the web process answers: our own request waits in its queue until it does."""
    with socket.socket(listener.family) as probe:
        probe.connect(listening.reachable(listener))
        probe.sendall(b"HEAD / HTTP/1.0\r\nHost: localhost\r\n\r\n")
        while not select.select([probe], [], [], 0.1)[0]:
            if web.process.poll() is not None:
                said = children.tail(web.recipe.log)
                raise Trouble(f"web did not start. The end of {web.recipe.log}:\n{said}")


def _watch(servers: Servers, watched: list[Watched]) -> None:
    """Start again whatever stops, until we are asked to stop."""
    with _children_waking() as awake:
        while True:
            for name, process in list(servers.processes.items()):
                if process.poll() is not None:
                    _tell(name, process, servers.recipes[name].log)
                    servers.start(name)
            for one in watched:
                _revive(one)
            due = [one.due - time.monotonic() for one in watched if one.due]
            # The timeout is a net for what died between the look and the wait.
            if select.select([awake], [], [], max(0.0, min([5.0, *due])))[0]:
                awake.recv(4096)


@contextmanager
def _children_waking() -> Iterator[socket.socket]:
    """Give a socket that can be read when a child has ended."""
    awake, waker = socket.socketpair()
    with awake, waker:
        waker.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        try:
            yield awake
        finally:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _revive(one: Watched) -> None:
    now = time.monotonic()
    if one.due is None and one.process.poll() is not None:
        _tell(one.recipe.name, one.process, one.recipe.log)
        children.end_group(one.process)
        one.pause = 0.0 if now - one.started > STEADY else min(LONGEST_PAUSE, one.pause * 2 or 0.5)
        one.due = now + one.pause
    if one.due is not None and one.due <= now:
        one.process, one.started, one.due = children.spawn(one.recipe), now, None


def _tell(name: str, process: subprocess.Popen[bytes], log: Path) -> None:
    _say(f"{name} ended ({process.returncode}); starting it again. See {log}")


def _say(text: str) -> None:
    """Tell people; standard output belongs to the one line of JSON."""
    click.echo(text, err=True)


@contextmanager
def _stoppable() -> Iterator[None]:
    """Turn the signals that mean "stop" into an exception, once; what follows is left to finish in peace."""
    signs = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # under nohup it is
        signs.append(signal.SIGHUP)

    def stop(_number: int, _frame: FrameType | None) -> None:
        for sign in signs:
            signal.signal(sign, signal.SIG_IGN)
        raise Stopped

    before = {sign: signal.signal(sign, stop) for sign in signs}
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)
