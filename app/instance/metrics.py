"""Figures for Prometheus, on a port of their own: what this process counts, and what waits in the database."""

import logging
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from app.instance import places
from app.instance.settings import Settings
from app.instance.trouble import Trouble

if TYPE_CHECKING:
    from prometheus_client.core import GaugeMetricFamily

log = logging.getLogger("hiring.metrics")

FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # where several web processes put what they count


class Waiting:
    """What waits, asked of the database each time somebody looks: the same figures from whichever process."""

    def describe(self) -> Iterable["GaugeMetricFamily"]:
        """Name nothing in advance: the registry holds its lock while it asks, and would wait for the database."""
        return ()

    def collect(self) -> Iterable["GaugeMetricFamily"]:
        """Give the figures; `hiring_database_up` alone when the database does not answer."""
        from prometheus_client.core import GaugeMetricFamily as Gauge
        from sqlalchemy.exc import SQLAlchemyError

        import store
        from store.operating import health
        from workers import schedule

        try:
            with store.transaction() as session:
                found, lags = health.figures(session), schedule.lags(session)
                set_aside = health.set_aside(session)
        except SQLAlchemyError:
            log.warning("The database did not answer for the figures.")
            yield Gauge("hiring_database_up", "Whether the database answers.", value=0)
            return
        yield Gauge("hiring_database_up", "Whether the database answers.", value=1)
        for name, text, value in (
            ("events_waiting", "Events not yet turned into deliveries.", found.events_waiting),
            ("events_oldest_seconds", "Age of the oldest such event.", found.oldest_event_seconds),
            ("deliveries_pending", "Deliveries waiting for active endpoints.", found.deliveries_pending),
            ("deliveries_held", "Deliveries waiting for paused endpoints.", found.deliveries_held),
            (
                "deliveries_oldest_pending_seconds",
                "Seconds since the delivery that waits longest became due.",
                found.oldest_delivery_seconds,
            ),
        ):
            yield Gauge(f"hiring_{name}", text, value=value)
        endpoints = Gauge("hiring_endpoints", "Webhook endpoints by state.", labels=["state"])
        endpoints.add_metric(["active"], found.endpoints_active)
        endpoints.add_metric(["failing"], found.endpoints_failing)
        endpoints.add_metric(["disabled"], found.endpoints_disabled)
        yield endpoints
        depth = Gauge("hiring_outbox_waiting", "Outbox work that is not done.", labels=["job"])
        failing = Gauge("hiring_outbox_failing", "Of it, tried and failed.", labels=["job"])
        oldest = Gauge(
            "hiring_outbox_overdue_seconds", "Seconds since the first of it became due.", labels=["job"]
        )
        for work in found.work:
            depth.add_metric([work.job], work.waiting)
            failing.add_metric([work.job], work.failing)
            oldest.add_metric([work.job], work.overdue_seconds)
        yield from (depth, failing, oldest)
        aside = Gauge("hiring_set_aside", "Rows that failed and stand aside.", labels=["kind"])
        for kind, count, _, _ in set_aside:
            aside.add_metric([kind], count)
        yield aside
        lag = Gauge(
            "hiring_schedule_lag_seconds", "How long ago the first due row became due.", labels=["kind"]
        )
        for kind, seconds in lags.items():
            lag.add_metric([kind], seconds)
        yield lag


@contextmanager
def together(processes: int) -> Iterator[None]:
    """Let several processes count together during the block; before anything that counts is loaded."""
    if processes == 1:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="hiring-metrics-") as folder:
        os.environ[FOLDER] = folder
        yield


def serve(settings: Settings, name: str, *, folder: Path | None = None) -> None:
    """Serve `/metrics` from a thread if a port is set, and write the port to `folder`; or say who has the port."""
    if settings.metrics_port is None:
        return
    from prometheus_client import REGISTRY, CollectorRegistry, multiprocess, start_http_server

    registry = REGISTRY
    if FOLDER in os.environ:
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)
    registry.register(Waiting())
    try:
        server, _ = start_http_server(settings.metrics_port, settings.metrics_host, registry)
    except OSError as error:
        raise Trouble(
            f"Port {settings.metrics_port} on {settings.metrics_host} cannot be had for metrics: {error.strerror}."
            " Choose another with --metrics-port, or 0 for a free one."
        ) from error
    port = int(server.server_port)
    log.info("Figures are served.", extra={"port": port})
    if folder is not None and folder.is_dir():
        places.write_private(folder / f"metrics-{name}", str(port))
