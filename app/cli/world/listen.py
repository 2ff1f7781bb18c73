"""`hiring listen`: test-mode events live, from the public event feed, forwarded as signed deliveries."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import click
import httpx
import orjson

from app.cli import options
from app.instance import demo_keys, embedded, places
from app.instance.trouble import Trouble
from rules import events, signatures, tokens
from rules.clock import iso, now

API = "/api/v1/public"
TEST_KEY = "ct_test_"
PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds between two looks


@dataclass(frozen=True)
class Source:
    """The service that is listened to."""

    url: str
    key: str


def source(data: Path, url: str | None, key: str | None) -> Source:
    """Return what is named, or the running instance of a data folder."""
    if key and not key.startswith(TEST_KEY):
        raise Trouble("Only a test-mode key (ct_test_…) may do this: live data and events are left alone.")
    if url:
        if not key:
            raise Trouble("Say which key to use: --key ct_test_… (or HIRING_KEY).")
        return Source(url.rstrip("/"), key)
    where = places.find(data)
    base_url = embedded.published(where).get("base_url") if where else None
    kept = demo_keys.kept(where) if where else None
    if not base_url or not kept:
        raise Trouble(f"Nothing runs in {data}. Start `hiring up`, or say --url and --key.")
    return Source(str(base_url), key or kept["test_key"])


def run(source: Source, forward: str | None, types: tuple[str, ...]) -> None:
    """Listen until Ctrl-C."""
    for type in types:
        if type not in events.NAMES:
            near = events.nearest(type)
            raise Trouble(f"There is no event {type!r}." + (f" Did you mean {near!r}?" if near else ""))
    feed = Feed(source)
    secret = tokens.new_secret()
    since = feed.now()
    click.echo(f"Listening to test-mode events of {source.url}. Ctrl-C ends it.")
    if forward:
        click.echo(f"Forwarding to {forward}, signed with this secret:\n\n  {secret}\n")
    with httpx.Client(timeout=15, trust_env=False, follow_redirects=False) as client:
        for event in feed.follow(since):
            if types and event["type"] not in types:
                continue
            click.echo(f"{event['timestamp']}  {event['sequence']:>6}  {event['type']:<28} {event['id']}")
            if forward:
                click.echo(f"{'':26}→ {_post(client, forward, secret, event)}")


@dataclass
class Feed:
    """The service's event feed."""

    source: Source
    sleep: Callable[[float], None] = time.sleep
    client: httpx.Client = field(init=False)
    _pause: float = PAUSE
    _date: datetime | None = None

    def __post_init__(self) -> None:
        headers = {"Authorization": f"Bearer {self.source.key}"}
        self.client = httpx.Client(
            base_url=self.source.url + API, headers=headers, timeout=30, trust_env=False
        )

    def now(self) -> datetime:
        """Return the service's own time, which may not be ours; raises Trouble when it does not answer."""
        self._ask({"page_size": 1, "since": iso(now())})
        if self._date is None:
            raise Trouble(f"{self.source.url} does not answer.")
        return self._date

    def follow(self, since: datetime) -> Iterator[dict[str, Any]]:
        """Give every event from a moment on, as it happens; outages are waited out."""
        where: dict[str, Any] = {"since": iso(since)}
        while True:
            page = self._ask({**where, "page_size": 100})
            for event in page["results"] if page else ():
                where = {"after": event["sequence"]}
                yield event
            if not page or not page["next"]:
                self.sleep(self._pause)

    def _ask(self, query: dict[str, Any]) -> dict[str, Any] | None:
        """Ask for one page; None while the service cannot answer. What we did wrong is told."""
        try:
            answer = self.client.get("/events/", params=query)
        except httpx.HTTPError as fault:
            click.echo(f"{self.source.url} does not answer ({fault}); trying again.", err=True)
            return None
        self._heed(answer.headers)
        if answer.status_code == 429:
            self._pause = min(LONGEST_PAUSE, float(answer.headers.get("Retry-After", LONGEST_PAUSE)))
            click.echo(f"The hour's reads are used up; going on in {self._pause:.0f} s.", err=True)
            return None
        if answer.status_code >= 500:
            click.echo(f"{self.source.url} answers {answer.status_code}; trying again.", err=True)
            return None
        if answer.status_code != 200:
            raise Trouble(f"{self.source.url} answers {answer.status_code}: {answer.text}")
        found: dict[str, Any] = answer.json()
        return found

    def _heed(self, headers: httpx.Headers) -> None:
        """Take the time, and leave half of the hour's reads to others: quickly at first, then at an even pace."""
        if "Date" in headers:
            self._date = parsedate_to_datetime(headers["Date"])
        limit = int(headers.get("X-RateLimit-Limit", 0))
        left = int(headers.get("X-RateLimit-Remaining", limit))
        self._pause = PAUSE if not limit or left > limit / 2 else max(PAUSE, 7_200 / limit)


def _post(client: httpx.Client, url: str, secret: str, event: dict[str, Any]) -> str:
    """Deliver one event as the service would, and say what came of it."""
    body = orjson.dumps({name: event[name] for name in events.FIELDS})
    headers = signatures.headers([secret], event["id"], int(time.time()), body)
    headers |= {"Content-Type": "application/json", "User-Agent": "Hiring-Listen/1.1"}
    try:
        answer = client.post(url, content=body, headers=headers)
    except httpx.HTTPError as fault:
        return f"{url} cannot be reached: {fault}"
    return f"{answer.status_code} {answer.reason_phrase}"


@click.command("listen")
@click.option(
    "--forward",
    metavar="URL",
    callback=options.address,
    help="Where to post each event; nowhere: they are only printed.",
)
@click.option("--url", metavar="URL", help="The service to listen to, with --key; otherwise that of --data.")
@click.option("--key", envvar="HIRING_KEY", help="A test-mode API key that may read webhooks.")
@click.option("--types", multiple=True, metavar="TYPE", help="Only these events; may be repeated.")
@options.data
def command(
    forward: str | None, url: str | None, key: str | None, types: tuple[str, ...], data: Path
) -> None:
    """Print test-mode events as they happen and forward them, signed, to a local address: no tunnel needed."""
    run(source(data, url, key), forward, types)
