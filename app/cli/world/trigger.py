"""`hiring trigger`."""

import json

import click

from app.cli.world.asking import Api, asking
from app.instance.trouble import Trouble
from rules import events


@click.command("trigger")
@click.argument("event")
@asking
def command(event: str, *, api: Api, as_json: bool) -> None:
    """Send the documented example of an event to the endpoints of test mode."""
    if event not in events.NAMES:
        near = events.nearest(event)
        raise Trouble(f"There is no event {event!r}." + (f" Did you mean {near!r}?" if near else ""))
    sent = api("POST", "/test/events/", {"type": event})
    click.echo(json.dumps(sent) if as_json else f"{sent['type']}  {json.dumps(sent['data'], indent=2)}")
