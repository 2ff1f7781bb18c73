"""Programs that mean ill. Each says in its head what it tries, what stops it at each level, and how it may end.

`Group` is the level where control groups count memory and processes, `Watch` the one where processes are watched.
A program writes "escaped" if it got what it wanted, or "held" and the MiB that it could keep; how much that may be follows
from its limit on memory. `python -m tests.hostile` writes the table of docs/operating.md.
"""

import platform
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
LANGUAGES = {"py": "python", "sh": "bash", "js": "javascript", "sql": "sql"}
LEVELS = ("group", "watch")
OPERATING = HERE.parents[1] / "docs" / "operating.md"
BEGIN, END = "<!-- hostile programs: begin -->", "<!-- hostile programs: end -->"


@dataclass(frozen=True)
class Hostile:
    """One program."""

    name: str
    language: str
    code: str
    tries: str
    by: dict[str, str]  # what stops it, by level
    ends: tuple[str, ...]
    machine: str = ""

    @property
    def here(self):
        """Whether it is written for this machine type."""
        return self.machine in ("", platform.machine())

    def is_stopped(self, level):
        """Whether it is stopped at this level before its time is over."""
        return not self.by[level].startswith("nothing")


def programs():
    """Read them all."""
    return [
        _read(path)
        for path in sorted(HERE.iterdir())
        if path.suffix[1:] in LANGUAGES and not path.stem.startswith("__")
    ]


def _read(path):
    text = path.read_text(encoding="utf-8")
    mark = {"py": "#", "sh": "#", "js": "//", "sql": "--"}[path.suffix[1:]]
    head = {}
    for line in text.splitlines():
        if not line.startswith(mark):
            break
        name, _, words = line.removeprefix(mark).strip().partition(": ")
        head[name] = words.rstrip(".")
    return Hostile(
        path.name,
        LANGUAGES[path.suffix[1:]],
        text,
        head["Tries"],
        {level: head[level.capitalize()] for level in LEVELS},
        tuple(head["Ends"].split()),
        head.get("Machine", ""),
    )


def table():
    """Write what stops each of them."""
    rows = [
        f"| `{one.name}` | {one.tries} | {one.by['group']} | {'the same' if one.by['watch'] == one.by['group'] else one.by['watch']} |"
        for one in programs()
    ]
    return "\n".join(
        [
            "| Program | Tries | Stopped in a control group by | Where it is watched by |",
            "|---|---|---|---|",
            *rows,
        ]
    )
