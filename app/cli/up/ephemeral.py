"""An instance of which nothing is kept: servers without care, in a folder that goes however this process ends."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.cli.up import sweeper
from app.instance.trouble import Trouble

# A job of a CI says these of the program under test: nothing of ours belongs there.
ELSEWHERE = (
    "DATABASE_URL", "REDIS_URL", "BASE_URL", "MAIL_DIR", "FILES_DIR", "FILES_S3_BUCKET", "SECRET_KEY", "SMTP_URL",
)  # fmt: skip


@contextmanager
def folder() -> Iterator[Path]:
    """Make a folder that is gone after the block, or soon after we were killed in it."""
    for name in ELSEWHERE:
        os.environ.pop(name, None)
    with subprocess.Popen(
        [sys.executable, "-I", sweeper.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # What reads our own output is not kept waiting by it.
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        text=True,
    ) as process:
        assert process.stdout
        if not (made := process.stdout.readline().strip()):
            raise Trouble("There is no folder for temporary files in which one could be made: set TMPDIR.")
        yield Path(made)
