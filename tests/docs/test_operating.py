"""The operator's page and the files beside it say what is there."""

import re
import shlex
from dataclasses import fields

import click
import prometheus_client
import pytest
import yaml

import app.http.limits
import app.http.live.hub
import app.http.live.keeping
import app.http.records.entrance
import workers.measures
from app.cli import COMMANDS, main
from app.http import application
from app.http.threads import lanes
from app.instance import metrics, postgres, processes
from app.instance.processes import KINDS
from app.instance.settings import ROOT, Settings
from store.database import engine
from tests.hooks import wired
from workers.jobs import JOBS

__all__ = ["wired"]

PAGE = (ROOT / "docs" / "operating.md").read_text()
DEPLOY = ROOT / "docs" / "deploy"
NAMES = {"threads": "WEB_THREADS"}
QUEUE = re.compile(r"^\| `([a-z_]+)` \| [^|]+ \| ([^|]+) \| ([^|]+(?:min|s)) \|$", re.M)
COUNTING = (
    app.http.records.entrance,
    app.http.live.hub,
    app.http.live.keeping,
    workers.measures,
    app.http.limits,
)


def test_every_setting_is_explained_with_its_default() -> None:
    rows = {
        name: default
        for names, default in re.findall(r"^\| ((?:`[A-Z0-9_]+`(?:, )?)+) \|(.*?)\| .+ \|$", PAGE, re.M)
        for name in re.findall("[A-Z0-9_]+", names)
    }
    wanted = {NAMES.get(field.name, field.name.upper()): field.default for field in fields(Settings)}
    assert set(rows) == set(wanted)
    for name, default in wanted.items():
        if isinstance(default, int) and not isinstance(default, bool):
            assert rows[name].strip() == str(default), name


def test_the_connections_of_each_process_are_as_many_as_it_may_hold() -> None:
    usual = Settings(database_url="", redis_url="", base_url="", secret_key="")
    most = engine.most_connections
    of_loop = usual.reads_at_once + application.KEYS + usual.changes_at_once + application.BELL
    web = most(application.pool_size(usual)) + of_loop
    held = (web + lanes.CLOCK_THREADS, most(processes.pool_size(KINDS)), most(processes.SCHEDULE_POOL))
    said = re.search(r"(\d+) for each web process, (\d+) for each worker, (\d+) for each schedule", PAGE)
    assert said is not None
    assert tuple(map(int, said.groups())) == held
    assert sum(held) < int(postgres.SETTINGS["max_connections"])  # `up` has one of each


def test_every_figure_is_explained_and_every_explained_figure_is_there(wired: Settings) -> None:
    said = set(re.findall(r"`(hiring_[a-z_]+)`", PAGE))
    waiting = {family.name for family in metrics.Waiting().collect()}
    counted = {
        family.name + ("_total" if family.type == "counter" else "")
        for module in COUNTING
        for one in vars(module).values()
        if isinstance(one, prometheus_client.metrics.MetricWrapperBase)
        for family in one.collect()
    }
    assert said == waiting | counted


def test_every_kind_of_work_is_named_with_its_threads_and_its_limit() -> None:
    rows = {kind: (threads.strip(), limit.strip()) for kind, threads, limit in QUEUE.findall(PAGE)}
    assert set(rows) == set(KINDS)
    for name, job in JOBS.items():
        assert rows[name] == (str(job.threads), f"{job.longest.total_seconds() / 60:g} min")


def commands() -> list[str]:
    units = [
        line
        for path in DEPLOY.glob("*.service")
        for line in re.findall(r"^ExecStart=\S+ (.+)$", path.read_text(), re.M)
    ]
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"].values()
    composed = [shlex.join(one["command"]) for one in services if one.get("image") == "hiring"]
    return [*(unit.replace("%i", "1") for unit in units), *composed]  # fmt: skip


@pytest.mark.parametrize("words", commands())
def test_every_command_of_a_unit_or_container_is_one(words: str) -> None:
    name, *arguments = shlex.split(words)
    command = main.get_command(click.Context(main), name)
    assert command is not None
    with click.Context(command) as context:
        command.parse_args(context, arguments)


def test_the_pages_own_commands_and_links_lead_somewhere() -> None:
    for name in set(re.findall(r"hiring ([a-z]+)", PAGE)) - {"up", "createdb"}:
        assert name in COMMANDS or name in ("hiring",), name
    for target in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert target.startswith("https://") or (ROOT / "docs" / target).exists(), target


def test_the_environment_file_names_settings_alone() -> None:
    named = set(re.findall(r"^([A-Z_]+)=", (DEPLOY / "hiring.env").read_text(), re.M))
    assert named <= {NAMES.get(field.name, field.name.upper()) for field in fields(Settings)}
