"""`hiring`: everything that is done from a terminal."""

import gc
from importlib import import_module

import click

from app.instance.trouble import Trouble

# Each is a module of this package, or of the folder named below, with a `command`, loaded when it is asked for, so that
# `--help` answers at once.
COMMANDS = {
    "up": "Run everything on this machine: servers, web, worker, schedule and a demo organisation.",
    "demo": "Play a journey: from an assessment to a score, from an application to a hire, or an interview.",
    "listen": "Print test-mode events as they happen and forward them, signed, to a local address.",
    "trigger": "Send the documented example of an event to the endpoints of test mode.",
    "simulate": "Play people in test mode: a candidate, applicants, who answers an offer, an interview.",
    "clock": "Show the clock of test mode, or advance it.",
    "web": "Answer requests.",
    "work": "Do what happens after a request: deliveries, mail, grading.",
    "schedule": "Do what falls due: expiries, sessions whose time is up.",
    "migrate": "Bring the database to the newest schema.",
    "orgs": "Make and list organisations.",
    "keys": "Make, list and revoke API keys.",
    "members": "Manage the people of an organisation.",
    "squads": "Manage the squads of an organisation.",
    "secrets": "Manage what is encrypted at rest.",
    "aside": "List what failed and was set aside, and put it back.",
    "audit": "Verify the audit log.",
    "doctor": "Say what is wrong, and what helps.",
    "test": "Run every check and every test.",
    "bench": "Measure speed beside peers.",
}
FOLDERS = dict.fromkeys(("listen", "trigger", "simulate", "clock"), "world.")


class Commands(click.Group):
    """The commands of the table; they may raise Trouble."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the table's order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; None where there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        # What is loaded stays: to look for garbage in it takes up to a fifth of the time.
        gc.disable()
        try:
            command: click.Command = import_module(f"app.cli.{FOLDERS.get(cmd_name, '')}{cmd_name}").command
        finally:
            gc.enable()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; what the operator can put right is told in a line, not in a traceback."""
        try:
            return super().invoke(ctx)
        except Trouble as trouble:
            raise click.ClickException(str(trouble)) from trouble


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="hiring")
def main() -> None:
    """Self-hosted hiring and assessment service."""
