"""The operator's figures, of real processes and of what waits."""

import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import text

import store
from app.instance import metrics
from app.instance.settings import Settings
from rules.caller import Caller
from store import outbox
from store.database import engine
from tests.api import Tenant
from tests.app.instances import COMMAND, eventually, up
from tests.hooks import caller, happen, new_endpoint, wired
from tests.shared import environ, free_port

__all__ = ["caller", "wired"]

Figures = dict[str, float]


def read(url: str) -> Figures:
    with urllib.request.urlopen(url, timeout=20) as answer:
        return parse(answer.read().decode())


def parse(body: str) -> Figures:
    return {
        sample.name + "".join(f" {value}" for _, value in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(body)
        for sample in family.samples
    }


def waiting() -> Figures:
    return {
        sample.name + "".join(f" {value}" for _, value in sorted(sample.labels.items())): sample.value
        for family in metrics.Waiting().collect()
        for sample in family.samples
    }


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


def test_requests_are_counted_by_operation_and_status(tenant: Tenant) -> None:
    before = counted("hiring_requests_total", operation="get_organisation", status="200")
    refused = counted("hiring_requests_total", operation="get_assessment", status="404")
    timed = counted("hiring_request_seconds_count", operation="get_organisation")
    tenant.live.get("/org/")
    tenant.live.get("/assessments/nothing/")
    assert counted("hiring_requests_total", operation="get_organisation", status="200") == before + 1
    assert counted("hiring_requests_total", operation="get_assessment", status="404") == refused + 1
    assert counted("hiring_request_seconds_count", operation="get_organisation") == timed + 1


def test_paths_that_nobody_wrote_down_make_no_figures_of_their_own(tenant: Tenant) -> None:
    for number in range(3):
        tenant.http.get(f"/made/up/{number}")
    names = {sample.labels["operation"] for family in REGISTRY.collect() for sample in family.samples
             if sample.name == "hiring_requests_total"}  # fmt: skip
    assert not any("made" in name for name in names)


def test_what_waits_is_told_with_its_age(caller: Caller) -> None:
    new_endpoint(caller)
    paused, _ = new_endpoint(caller, "https://example.com/2")
    with store.transaction() as session:  # what other tests left behind would be due
        due = "status = 'pending' AND expires_at < now()"
        session.execute(text(f"UPDATE invitations SET status = 'expired' WHERE {due}"))
    before = waiting()
    happen(caller, "job.created", "job.closed")
    with store.transaction() as session:
        session.execute(
            text("UPDATE events SET created_at = now() - interval '1 hour' WHERE fanned_out_at IS NULL")
        )
        outbox.add(session, None, "mail", template="x")
    with store.transaction() as session:
        session.execute(text("UPDATE outbox SET last_error = 'refused' WHERE job = 'mail'"))
        session.execute(
            text(
                "UPDATE webhook_endpoints SET pending_delivery_count = 7, is_active = false,"
                " disabled_reason = 'gone' WHERE id = :id"
            ),
            {"id": paused},
        )
    found = waiting()
    assert found["hiring_database_up"] == 1
    assert found["hiring_events_waiting"] == before["hiring_events_waiting"] + 2
    assert found["hiring_events_oldest_seconds"] >= 3600
    assert found["hiring_deliveries_held"] == before["hiring_deliveries_held"] + 7
    assert found["hiring_endpoints disabled"] == before["hiring_endpoints disabled"] + 1
    assert found["hiring_outbox_waiting mail"] >= 1
    assert found["hiring_outbox_failing mail"] >= 1
    assert found["hiring_schedule_lag_seconds invitations"] == 0


def test_a_database_that_is_away_is_a_figure_and_not_a_fault(wired: Settings) -> None:
    engine.configure("postgresql://nobody@127.0.0.1:1/nothing")
    try:
        assert waiting() == {"hiring_database_up": 0}
    finally:
        engine.configure(wired.database_url)


@pytest.fixture
def processes(wired: Settings) -> Iterator[list[subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for one in started:
        one.send_signal(signal.SIGTERM)
    for one in started:
        one.wait(20)


def test_several_web_processes_count_together(
    wired: Settings, folder: Path, processes: list[subprocess.Popen[bytes]]
) -> None:
    (folder / "data").mkdir()
    ports = {name: free_port() for name in ("web", "figures")}
    words = ["web", "--port", str(ports["web"]), "--processes", "2", "--metrics-port", str(ports["figures"])]
    processes.append(
        subprocess.Popen([*COMMAND, *words, "--data", str(folder / "data")], env=environ(wired), cwd="/")
    )

    def answers() -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{ports['web']}/healthz", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    eventually(answers, 60)
    asked = 1 + sum(answers() for _ in range(20))

    def told() -> Figures | None:
        """Read the figures once the last of them is in: a request is counted after it was answered."""
        found = read(f"http://127.0.0.1:{ports['figures']}/metrics")
        return found if found.get("hiring_requests_total get_health 200", 0) >= asked else None

    assert asked > 10
    assert eventually(told)["hiring_database_up"] == 1


def test_up_serves_figures_of_each_process_where_its_folder_says(folder: Path) -> None:
    with up(folder / "data", "--metrics"):
        run = folder / "data" / "run"
        found = {}
        for name in ("web", "work", "schedule"):
            port = eventually(lambda name=name: (run / f"metrics-{name}").exists()) and int(
                (run / f"metrics-{name}").read_text()
            )
            found[name] = read(f"http://127.0.0.1:{port}/metrics")
    assert all(one["hiring_database_up"] == 1 for one in found.values())
    assert "hiring_events_fanned_out_total" in found["work"]
