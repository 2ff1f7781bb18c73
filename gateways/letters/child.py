"""The process that sets one letter: its data as JSON on stdin, the PDF on stdout."""

import json
import sys
from pathlib import Path
from typing import Any

from gateways import limited


def prepare() -> None:
    """Load what sets letters: each is set in a fork of this process."""
    import typst  # noqa: F401


def main() -> None:
    """Set the letter within the limits ordered."""
    given = json.loads(sys.stdin.buffer.read())
    limited.limit(given["seconds"], given["memory_mb"])
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
