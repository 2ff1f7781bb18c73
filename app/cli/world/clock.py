"""`hiring clock`: the time of test mode."""

import json
from typing import Any

import click

from app.cli import options
from app.cli.world.asking import Api, asking, span


@click.command("clock")
@click.argument("move", type=click.Choice(["advance"]), required=False, metavar="[advance")
@click.argument("by", required=False, metavar="SPAN|next]")
@asking
def command(move: str | None, by: str | None, *, api: Api, as_json: bool) -> None:
    """Show the clock of test mode, or advance it.

    By a span such as 3d or 1h30m, or to the `next` moment at which something happens.
    """
    if move and not by:
        raise click.UsageError("Say how far: `hiring clock advance 3d` or `hiring clock advance next`.")
    body = None
    if by:
        body = {"to": "next_due"} if by == "next" else {"seconds": span(by)}
    if body is None:
        shown = api("GET", "/test/clock/")
        options.show({name: shown[name] for name in ("advanced_seconds", "next_due_at")}, as_json=as_json)
        return
    moved = _advance(api, body)
    if as_json:
        click.echo(json.dumps(moved))
        return
    for one in moved["happened"]:
        click.echo(f"{one['at']}  {one['kind']:<28} {one['id'] or ''}")
    options.show(
        {name: moved[name] for name in ("advanced_seconds", "happened_count", "next_due_at")}, as_json=False
    )


def _advance(api: Api, body: dict[str, Any]) -> dict[str, Any]:
    """Let time pass, in as many requests as it takes."""
    moved = api("POST", "/test/clock/advance/", body)
    while moved["remaining_seconds"]:
        more = api("POST", "/test/clock/advance/", {"seconds": moved["remaining_seconds"]})
        # Moments of what happened before are older by what was let pass since: they are left as they were said.
        moved = more | {
            name: moved[name] + more[name] for name in ("advanced_seconds", "happened", "happened_count")
        }
    return moved
