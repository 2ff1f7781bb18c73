"""`hiring simulate`: people who are played in test mode."""

import json
from typing import Any
from urllib.parse import quote

import click

from app.cli import options
from app.cli.world.asking import Api, asking

MINUTES = click.option(
    "--minutes", type=click.IntRange(0, 1_440), default=0, help="How much time passes before the end."
)


@click.group("simulate")
def command() -> None:
    """Play people in test mode: a candidate, applicants, who answers an offer, an interview."""


# A token may begin with a dash.
@command.command("candidate", context_settings={"ignore_unknown_options": True})
@click.argument("token")
@click.option(
    "--outcome", type=click.Choice(["pass", "fail", "abandon"]), help="pass, unless --score is given."
)
@click.option("--score", type=click.IntRange(0, 100), help="The percentage of the points to reach.")
@click.option("--violation", "violations", multiple=True, metavar="TYPE", help="A signal; may be repeated.")
@MINUTES
@asking
def candidate(
    token: str,
    outcome: str | None,
    score: int | None,
    violations: tuple[str, ...],
    minutes: int,
    *,
    api: Api,
    as_json: bool,
) -> None:
    """Have a candidate take the assessment of an invitation, by its TOKEN."""
    if outcome and score is not None:
        raise click.UsageError("Say --outcome or --score, not both.")
    how = {"outcome": outcome or "pass"} if score is None else {"score": score}
    asked = how | {"minutes": minutes, "violations": list(violations)}
    _show(api("POST", f"/test/invites/{_in_path(token)}/take/", asked), as_json=as_json)


@command.command("applications")
@click.argument("job")
@click.option("--count", type=click.IntRange(1, 200), default=10, show_default=True, help="How many people.")
@click.option("--quality", type=click.Choice(["strong", "weak", "mixed"]), default="mixed", show_default=True)
@click.option(
    "--seed", type=click.IntRange(0, 1_000_000), default=1, show_default=True, help="The same people again."
)
@asking
def applications(
    job: str,
    count: int,
    quality: str,
    seed: int,
    *,
    api: Api,
    as_json: bool,
) -> None:
    """Have people apply for a JOB (its slug or id), with CVs."""
    asked = {"count": count, "quality": quality, "seed": seed}
    made = api("POST", f"/test/jobs/{_in_path(job)}/applications/", asked)
    if as_json:
        click.echo(json.dumps(made))
    else:
        options.table(made["applications"], as_json=False)


@command.command("offer")
@click.argument("offer_id", type=click.UUID)
@click.argument("reply", type=click.Choice(["accept", "decline"]))
@click.option("--reason", default="", help="Why it is declined.")
@asking
def offer(offer_id: Any, reply: str, reason: str, *, api: Api, as_json: bool) -> None:
    """Answer an offer that was sent."""
    asked = {"reply": reply, "reason": reason}
    _show(api("POST", f"/test/offers/{offer_id}/reply/", asked), as_json=as_json)


@command.command("interview")
@click.argument("room_id", type=click.UUID)
@click.option("--recommendation", type=click.Choice(["advance", "reject", "hold"]), help="What it leads to.")
@MINUTES
@asking
def interview(
    room_id: Any,
    recommendation: str | None,
    minutes: int,
    *,
    api: Api,
    as_json: bool,
) -> None:
    """Hold an interview."""
    asked = {"minutes": minutes} | ({"recommendation": recommendation} if recommendation else {})
    _show(api("POST", f"/test/interviews/{room_id}/play/", asked), as_json=as_json)


def _in_path(text: str) -> str:
    return quote(text, safe="")


def _show(answer: dict[str, Any], *, as_json: bool) -> None:
    """Print an answer: all of it as JSON, what is one value of it for people."""
    plain = {
        name: one for name, one in answer.items() if one is not None and not isinstance(one, (dict, list))
    }
    options.show(answer if as_json else plain, as_json=as_json)
