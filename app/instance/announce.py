"""What `hiring up` says once it is ready."""

import json
import sys
import textwrap

import click

from app.instance.places import Places


def ready(where: Places, base_url: str, demo: dict[str, str], link: str | None, *, as_json: bool) -> None:
    """Print where the service is and how to get in: one line of JSON, or text for people."""
    if as_json:
        facts = {
            "base_url": base_url,
            **demo,
            "data": str(where.data),
            "mail_dir": str(where.mail),
            "sign_in_url": link,
        }
        click.echo(json.dumps(facts))
        sys.stdout.flush()
        return
    facts = {
        "API": f"{base_url}/api/v1/public/",
        "Docs": f"{base_url}/docs/",
        "Organisation": f"{demo['organisation']} (growth plan)",
        "Live key": demo["live_key"],
        "Test key": demo["test_key"],
        "Sign in": link or f"{base_url}/area/",
        "Mail": f"{where.mail} (.eml files)",
        "Logs": str(where.logs),
    }
    text = "\n".join(f"{name:13} {value}" for name, value in facts.items())
    tries = textwrap.dedent(f"""\
        What to try next:
          export BASE_URL={base_url}
          export API_KEY={demo["test_key"]}
          curl -H "Authorization: Bearer $API_KEY" $BASE_URL/api/v1/public/assessments/
          ./hiring demo --data {where.data}
        Ctrl-C stops everything.""")
    if sys.stdout.isatty():
        from rich.console import Console  # only where somebody looks
        from rich.panel import Panel
        from rich.text import Text

        Console().print(Panel(Text(text), title="hiring is ready", expand=False), Text(tries), sep="\n")
    else:
        click.echo(f"hiring is ready\n\n{text}\n\n{tries}")
    sys.stdout.flush()
