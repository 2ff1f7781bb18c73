"""Options that several commands share, and the checks on their values."""

import difflib
import ipaddress
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from rules.scopes import SCOPES

data = click.option(
    "--data", type=click.Path(file_okay=False, path_type=Path), default=".data", show_default=True,
    help="Folder that holds everything of an instance.",
)  # fmt: skip
host = click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
port = click.option(
    "--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="0: a free one."
)
metrics_port = click.option(
    "--metrics-port",
    type=click.IntRange(0, 65535),
    envvar="METRICS_PORT",
    help="Serve figures for Prometheus there; 0: a free one.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")


def show(facts: Mapping[str, object], *, as_json: bool) -> None:
    """Print facts as one line of JSON, or one a line."""
    if as_json:
        click.echo(json.dumps(facts))
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        click.echo(f"{name.replace('_', ' '):{width}}  {'none' if value is None else value}")


def table(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Print rows as one line of JSON, as a table for people, or separated by tabs for programs."""
    if as_json:
        click.echo(json.dumps(rows))
        return
    shown = [
        {name: ", ".join(value) if isinstance(value, list) else value or "" for name, value in row.items()}
        for row in rows
    ]
    if not sys.stdout.isatty():
        for row in shown:
            click.echo("\t".join(map(str, row.values())))
        return
    from rich.console import Console  # slow to import
    from rich.table import Table

    made = Table(*(shown[0] if shown else {"none": ""}))
    for row in shown:
        made.add_row(*map(str, row.values()))
    Console().print(made)


def time(moment: datetime | None) -> str | None:
    """Write a moment as ISO 8601 in UTC, by the second."""
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z") if moment else None


def scopes(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    """Accept known scopes."""
    for value in values:
        if value not in SCOPES:
            near = difflib.get_close_matches(value, SCOPES, n=1)
            meant = f" Did you mean {near[0]!r}?" if near else f" The scopes are: {', '.join(SCOPES)}."
            raise click.BadParameter(f"there is no scope {value!r}.{meant}", ctx, param)
    return tuple(dict.fromkeys(values))


def queues(ctx: click.Context, param: click.Parameter, value: str) -> tuple[str, ...]:
    """Accept kinds of work."""
    from app.instance.processes import KINDS  # slow to import

    kinds = tuple(dict.fromkeys(part.strip() for part in value.split(",") if part.strip()))
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise click.BadParameter(
            f"there is no queue {unknown[0]!r}. The queues are: {', '.join(KINDS)}.", ctx, param
        )
    if not kinds:
        raise click.BadParameter(f"name one at least of: {', '.join(KINDS)}.", ctx, param)
    return kinds


def cidrs(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    """Accept IPv4 and IPv6 networks and single addresses."""
    for value in values:
        try:
            ipaddress.ip_network(value)
        except ValueError as error:
            hint = ""
            try:
                hint = f" Did you mean {ipaddress.ip_network(value, strict=False)}?"
            except ValueError:
                hint = " Write a network such as 203.0.113.0/24 or 2001:db8::/32."
            raise click.BadParameter(f"{error}.{hint}", ctx, param) from error
    return tuple(str(ipaddress.ip_network(value)) for value in dict.fromkeys(values))


def address(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Accept an address that can be posted to."""
    if value is None:
        return None
    try:
        parts = urlsplit(value)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise click.BadParameter(f"{value!r} is no address such as http://localhost:3000/hooks.", ctx, param)
    return value


def moment(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """Accept a future moment with its offset from UTC."""
    if value is None:
        return None
    example = "2030-12-31T23:59:59Z"
    try:
        given = datetime.fromisoformat(value)
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is no ISO 8601 time such as {example}.", ctx, param) from error
    if given.tzinfo is None:
        raise click.BadParameter(f"say the offset from UTC too, as in {example}.", ctx, param)
    if given <= datetime.now(UTC):
        raise click.BadParameter(f"{value} has passed.", ctx, param)
    return given.astimezone(UTC)


def email(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Accept a well-formed address."""
    from schemas import emails  # slow to import

    try:
        return emails.normal(value)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from error
