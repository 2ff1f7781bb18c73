"""`hiring`: everything that is done from a terminal."""

import click

from app.cli import administration as cli_admin
from app.cli import operate as cli_operate
from app.cli import processes as cli_processes
from app.instance.trouble import Trouble


class Commands(click.Group):
    """A group whose commands may raise Trouble."""

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


for command in (*cli_processes.COMMANDS, *cli_admin.COMMANDS, *cli_operate.COMMANDS):
    main.add_command(command)

if __name__ == "__main__":
    main(prog_name="hiring")
