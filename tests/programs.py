"""Programs in the sandbox, for tests: what runs here, one run, and what of it is still there."""

from pathlib import Path

import pytest

from gateways import sandbox
from gateways.languages import LANGUAGES
from gateways.sandbox import available, why_not


def needs(language):
    return pytest.mark.skipif(
        not available(language), reason=f"no {language} sandbox here: {why_not(language)}"
    )


needs_python, needs_javascript, needs_bash, needs_sql = map(needs, ("python", "javascript", "bash", "sql"))
every_language = pytest.mark.parametrize(
    "language", [pytest.param(name, marks=needs(name)) for name in LANGUAGES]
)


SECONDS = 30.0  # programs stay behind all else, on a machine that is full of tests


def run(language, code, inputs, *, seconds=SECONDS, **limits):
    return sandbox.run(language, code, inputs, seconds=seconds, **limits)


def once(language, code, text="", **limits):
    (result,) = run(language, code, [text], **limits)
    return result


def running(marker):
    """List the machine's processes that have the marker among their arguments."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker.encode() in path.read_bytes().split(b"\0"):
                found.append(path.parent.name)
        except OSError:
            continue
    return found
