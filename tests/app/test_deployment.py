"""Two of each process on shared servers, as on several machines: half of them fall, and nobody notices."""

import os
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

import store
from app.instance import processes
from app.instance.settings import Settings
from store.accounts import keys, organisations
from tests import receiver as receivers
from tests.hooks import deliveries_of, let_time_pass, wait_until, wired
from tests.shared import ROOT, free_port, process

__all__ = ["wired"]

API = "/api/v1/public"


def _of_session() -> str:
    """Return what the kernel says of this session's share; nothing where it shares between processes alone."""
    file = Path("/proc/self/autogroup")
    return file.read_text(encoding="ascii").strip() if file.exists() else ""


def test_what_comes_after_a_request_leaves_the_cores_to_requests(wired: Settings) -> None:
    with (
        process(wired, "web", "--port", str(free_port()), ready="startup complete") as web,
        process(wired, "work", ready="The worker is ready.") as work,
        process(wired, "schedule", ready="The schedule is ready.") as schedule,
    ):
        usual, *nicer = (os.getpriority(os.PRIO_PROCESS, one.pid) for one in (web, work, schedule))
    assert usual == os.getpriority(os.PRIO_PROCESS, 0)
    assert nicer == [min(19, usual + processes.NICENESS)] * 2


@pytest.mark.skipif(not _of_session(), reason="This system shares its cores between processes alone.")
@pytest.mark.parametrize("is_its_own_session", [True, False])
def test_a_session_gives_way_if_nobody_else_is_in_it(*, is_its_own_session: bool) -> None:
    code = (
        "from pathlib import Path; from gateways import cores; cores.give_way(3);"
        " print(Path('/proc/self/autogroup').read_text())"
    )
    usual = _of_session().split()[-1]
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, start_new_session=is_its_own_session, stdout=subprocess.PIPE, text=True,
        check=True,
    ).stdout  # fmt: skip
    nicer = min(19, os.getpriority(os.PRIO_PROCESS, 0) + 3)
    assert said.split()[-1] == (str(nicer) if is_its_own_session else usual)


def test_two_web_and_two_workers_lose_half_of_themselves_and_nothing_else(wired: Settings) -> None:
    with store.transaction() as session:
        organisation = organisations.create(session, name="Deployed", plan="enterprise")
        _, key = keys.create(session, organisation=organisation, name="live", livemode=True)
    ports = [free_port(), free_port()]
    with ExitStack() as stack:
        webs = [
            stack.enter_context(process(wired, "web", "--port", str(port), ready="startup complete"))
            for port in ports
        ]
        workers = [
            stack.enter_context(process(wired, "work", ready="The worker is ready.")) for _ in range(2)
        ]
        receiver = stack.enter_context(receivers.running())
        client = stack.enter_context(
            httpx.Client(headers={"Authorization": f"Bearer {key}"}, timeout=30, trust_env=False)
        )

        def call(port: int, method: str, path: str, body: Any = None) -> Any:
            answer = client.request(method, f"http://127.0.0.1:{port}{path}", json=body)
            assert answer.is_success, answer.text
            return answer.json()

        first, second = ports
        hook = call(first, "POST", f"{API}/webhooks/create/", {"url": receiver.url, "events": ["*"]})
        call(second, "POST", f"{API}/webhooks/{hook['id']}/test/")
        receiver.clear()
        slug = call(first, "POST", f"{API}/assessments/create/", {"title": "Shared"})["slug"]
        call(second, "PATCH", f"{API}/assessments/{slug}/update/", {"status": "active"})

        def invite(port: int, numbers: range) -> None:
            for number in numbers:
                person = {"email": f"deployed-{number}@example.com"}
                call(port, "POST", f"{API}/assessments/{slug}/invites/", person)

        for port, numbers in ((first, range(20)), (second, range(20, 40))):
            invite(port, numbers)
        receiver.wait_for(40)
        for fallen in (webs[0], workers[0]):
            fallen.kill()
            fallen.wait()
        let_time_pass(hook["id"])  # the leases of the dead
        assert call(second, "GET", "/readyz")["status"] == "ok"
        invite(second, range(40, 80))
        wait_until(lambda: len({one.id for one in receiver.requests}) == 80)
        sequences = {one.json["sequence"] for one in receiver.requests}
        assert sequences == set(range(1, 81))
        assert all(one.verify(hook["secret_key"]) for one in receiver.requests)
        wait_until(lambda: {one.status for one in deliveries_of(hook["id"])} == {"delivered"}, 90)
        listed = call(second, "GET", f"{API}/webhooks/{hook['id']}/deliveries/?page_size=1")
        assert listed["results"][0]["payload"]["sequence"] == 80


def test_a_web_process_is_replaced_on_its_open_port_and_nobody_is_refused(wired: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as port:
        number = port.getsockname()[1]
        words = ["web", "--fd", str(port.fileno()), "--processes", "2"]
        started = {"ready": "startup complete", "descriptors": (port.fileno(),)}
        answers: list[int] = []
        stopping = threading.Event()

        def ask() -> None:
            with httpx.Client(timeout=60, trust_env=False) as client:
                while not stopping.is_set():
                    url, headers = f"http://127.0.0.1:{number}/healthz", {"Connection": "close"}
                    answers.append(client.get(url, headers=headers).status_code)

        with ThreadPoolExecutor(4) as pool, ExitStack() as stack:
            stack.callback(stopping.set)
            old = stack.enter_context(process(wired, *words, **started))
            asking = [pool.submit(ask) for _ in range(4)]
            wait_until(lambda: len(answers) > 50, 60)
            old.terminate()
            old.wait(60)
            seen = len(answers)
            stack.enter_context(process(wired, *words, **started))
            wait_until(lambda: len(answers) > seen + 50, 60)
            stopping.set()
            for one in asking:
                one.result(60)
    assert set(answers) == {200}


def test_several_web_processes_fall_with_the_one_that_started_them(wired: Settings) -> None:
    port = free_port()

    def answers() -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{port}/healthz", trust_env=False).is_success
        except httpx.HTTPError:
            return False

    words = ["web", "--port", str(port), "--processes", "2"]
    with process(wired, *words, ready="startup complete") as parent:
        wait_until(answers, 60)
        parent.kill()
        parent.wait()
        wait_until(lambda: not answers())
