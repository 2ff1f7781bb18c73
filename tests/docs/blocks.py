"""A guide's code blocks, run in their order as a reader would run them.

- `sh`, `python` and `ts` blocks run one after the other in one folder; variables that a `sh` block sets are in the
  environment of all later ones. One whose first line is a comment with a file name is kept under that name, and run
  by the later block that imports or starts it.
- A `json` or `text` block is what the block before it prints. Of JSON, what is shown must be there and other members
  may be; `…` stands for anything.
"""

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
NAMED = re.compile(r"(?:#|//) ([\w-]+\.(?:py|ts))\n")
SECONDS = 120  # after which a block that still runs has failed


@dataclass(frozen=True)
class Block:
    """One fenced block and the line that it starts on."""

    language: str
    text: str
    line: int


def blocks(path: Path) -> list[Block]:
    text = path.read_text()
    return [
        Block(found[1], found[2], text.count("\n", 0, found.start()) + 1) for found in FENCE.finditer(text)
    ]


@dataclass
class Reader:
    """Somebody who follows a guide: a folder, an environment and what was printed last."""

    folder: Path
    environ: dict[str, str]
    node: str | None
    printed: str | None = None
    left_out: list[int] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)

    def follow(self, guide: Path) -> None:
        """Run every block of a guide, and compare where it shows what is printed."""
        every = blocks(guide)
        for place, block in enumerate(every):
            where = f"{guide.name}:{block.line}"
            if named := NAMED.match(block.text):
                (self.folder / named[1]).write_text(block.text)
                used = (later.text for later in every[place + 1 :] if later.language in RUN)
                assert any(Path(named[1]).stem in text for text in used), f"{where}: nobody uses {named[1]}"
            elif block.language in RUN:
                self.printed = RUN[block.language](self, block, where)
            else:
                assert block.language in ("json", "text"), f"{where}: nobody runs {block.language}"
                if self.printed is not None:
                    compare(block, self.printed, where)

    def shell(self, block: Block, where: str) -> str:
        kept = self.folder / "environment"
        program = f"set -aeuo pipefail\n{block.text}\nset +x; env -0 > '{kept}'\n"
        printed = self.run(["bash", "-c", program], where)
        pairs = (pair.partition("=") for pair in kept.read_text().split("\0") if pair)
        self.environ = {
            name: value for name, _, value in pairs if name not in ("_", "SHLVL", "PWD", "OLDPWD")
        }
        return printed

    def python(self, block: Block, where: str) -> str:
        return self.run([sys.executable, str(self.keep(block, "py"))], where)

    def typescript(self, block: Block, where: str) -> str | None:
        program = self.keep(block, "ts")
        if self.node is None:
            self.left_out.append(block.line)
            return None
        return self.run([self.node, "--disable-warning=ExperimentalWarning", str(program)], where)

    def keep(self, block: Block, suffix: str) -> Path:
        path = self.folder / f"block-{block.line}.{suffix}"
        path.write_text(block.text)
        return path

    def run(self, command: list[str], where: str) -> str:
        with (self.folder / "out").open("w+") as out, (self.folder / "err").open("w+") as err:
            # Files, not pipes: what a block leaves running in the background does not hold up the next one.
            process = subprocess.Popen(
                command, cwd=self.folder, env=self.environ, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                start_new_session=True,
            )  # fmt: skip
            self.groups.append(process.pid)
            status = process.wait(SECONDS)
        printed = (self.folder / "out").read_text()
        assert status == 0, f"{where} ended with {status}\n{printed}\n{(self.folder / 'err').read_text()}"
        return printed

    def leave(self) -> None:
        """End what blocks started and left running."""
        for group in self.groups:
            try:
                os.killpg(group, signal.SIGTERM)
            except ProcessLookupError:
                continue


RUN = {"sh": Reader.shell, "python": Reader.python, "ts": Reader.typescript}


def compare(block: Block, printed: str, where: str) -> None:
    if block.language == "json":
        different = list(differences(json.loads(block.text), json.loads(printed)))
        assert not different, f"{where} shows something else than what was printed: {different}\n{printed}"
    else:
        assert like(block.text.strip(), printed.strip()), (
            f"{where} shows\n{block.text}\nbut printed was\n{printed}"
        )


def differences(shown: Any, printed: Any, at: str = "") -> Any:
    """Name the places where something is shown that was not printed."""
    if isinstance(shown, dict) and isinstance(printed, dict):
        for name, value in shown.items():
            if name in printed:
                yield from differences(value, printed[name], f"{at}/{name}")
            else:
                yield f"{at}/{name} is missing"
    elif isinstance(shown, list) and isinstance(printed, list):
        if len(shown) != len(printed):
            yield f"{at} has {len(printed)} items"
        for place, (one, other) in enumerate(zip(shown, printed, strict=False)):
            yield from differences(one, other, f"{at}/{place}")
    elif not (
        like(shown, printed) if isinstance(shown, str) and isinstance(printed, str) else shown == printed
    ):
        yield f"{at} is {printed!r}"


def like(shown: str, printed: str) -> bool:
    """Say whether a text is as shown, where `…` stands for anything."""
    return re.fullmatch(".*".join(map(re.escape, shown.split("…"))), printed, re.S) is not None
