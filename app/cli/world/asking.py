"""Commands that ask the public API of a service that runs, with its test key."""

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import httpx

from app.cli import options
from app.cli.world import listen
from app.instance.trouble import Trouble

SECONDS = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
LONGEST = 31_622_400  # a leap year, which one request may ask for
PATIENCE = 60.0  # more than the service takes for any answer


@dataclass(frozen=True)
class Api:
    """The public API with a test key; what it refuses is told in a line."""

    data: Path
    url: str | None
    key: str | None

    def __call__(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """Call one operation and return what it answers."""
        source = listen.source(self.data, self.url, self.key)
        headers = {"Authorization": f"Bearer {source.key}"}
        try:
            answer = httpx.request(
                method,
                f"{source.url}{listen.API}{path}",
                json=body,
                headers=headers,
                timeout=PATIENCE,
                trust_env=False,
            )
        except httpx.HTTPError as fault:
            raise Trouble(f"{source.url} does not answer ({fault}).") from fault
        try:
            found = dict(answer.json())
        except ValueError:
            raise Trouble(f"{source.url} answers {answer.status_code}: no JSON.") from None
        if not answer.is_success:
            raise Trouble(_said(found.get("error", {}), answer.status_code))
        return found


def _said(error: dict[str, Any], status: int) -> str:
    """Write a refusal as a line, with the fields that are wrong."""
    details = error.get("details", {})
    wrong = [f"{one['pointer']}: {one['message']}" for one in details.get("fields", ())]
    also = [str(details["status"])] if "status" in details else []
    text = f"{error.get('message', 'The request was refused.')} ({error.get('code', status)})"
    return " ".join([text, *also, *wrong])


def asking(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command `api`, and the options that say whose it is: a running instance's, or by address and key."""

    @functools.wraps(function)
    def command(*, data: Path, url: str | None, key: str | None, **given: Any) -> None:
        function(**given, api=Api(data, url, key))

    for option in (
        options.as_json,
        options.data,
        click.option("--key", envvar="HIRING_KEY", help="A test-mode API key with the scope test:write."),
        click.option("--url", metavar="URL", help="The service, with --key; otherwise that of --data."),
    ):
        command = option(command)
    return command


def span(value: str) -> int:
    """Read a span such as 3d or 1h30m as seconds."""
    parts = re.findall(r"(\d{1,9})([wdhms])", value)
    seconds = sum(int(count) * SECONDS[unit] for count, unit in parts)
    if "".join(map("".join, parts)) != value or not 1 <= seconds <= LONGEST:
        raise click.BadParameter(f"{value!r} is no span such as 3d, 1h30m or 45s, of at most 366d.")
    return seconds
