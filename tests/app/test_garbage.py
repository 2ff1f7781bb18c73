"""A process that serves has little to look through for garbage: a look at all that it loaded would be a pause."""

import os
import subprocess
import sys

from app.instance import settings as environment
from app.instance.settings import ROOT, Settings

# All is built before the first one asks.
SERVE = """
import asyncio, gc
from app.http import server

async def made():
    server.application()
    return len(gc.get_objects()), gc.get_freeze_count(), gc.isenabled()

print(*asyncio.run(made()))
"""


def test_what_a_web_process_has_loaded_is_not_looked_through(settings: Settings) -> None:
    given = os.environ | environment.environment(settings)
    ran = subprocess.run(
        [sys.executable, "-c", SERVE], env=given, cwd=ROOT, capture_output=True, text=True, check=True
    )
    looked_through, kept, enabled = ran.stdout.split()
    assert int(looked_through) < int(kept) / 100
    assert enabled == "True"
