"""The process that sets one letter: its data as JSON on stdin, the PDF on stdout."""

import contextlib
import json
import resource
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Set the letter within the limits ordered."""
    given = json.loads(sys.stdin.buffer.read())
    _limit(given["seconds"], given["memory_mb"])
    sys.stdout.buffer.write(_set(given))


def _set(given: dict[str, Any]) -> bytes:
    import typst

    # There is nothing that it could read but the template and the fonts: its root is the template's folder.
    template = Path(__file__).with_name("letter.typ")
    pdf: bytes = typst.compile(
        template,
        root=template.parent,
        font_paths=given["folders"],
        ignore_system_fonts=True,
        sys_inputs={"letter": json.dumps(given["letter"])},
    )
    return pdf


def _limit(seconds: int, memory_mb: int) -> None:
    limits = {
        resource.RLIMIT_AS: memory_mb << 20,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: 64,
        resource.RLIMIT_CORE: 0,
    }
    for name, value in limits.items():
        # A system that does not know one of them still has the others and the parent's clock.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(name, (value, value))
