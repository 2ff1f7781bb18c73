"""Pieces of text on a page, brought into the order in which they are read: columns, rows, cells."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gateways.cv import sections

GUTTER = 8.0  # points of white between columns, at least
CELL = 14.0  # points of white between cells of a row, at least
LINES = 3  # lines on either side of a gutter, at least
CHARACTERS = 30
EDGES = 60  # places for a gutter that are tried
DEPTH = 6

_DATES = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True)
class Box:
    """A run of text and its place in points; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float
    text: str

    @property
    def height(self) -> float:
        """How tall it is."""
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        """Where its line runs."""
        return (self.top + self.bottom) / 2


def read(boxes: Sequence[Box], depth: int = 0) -> list[str]:
    """Return the lines of a page: what is above columns, each column, what is below; cells parted by tabs."""
    ordered = sorted(boxes, key=lambda box: (box.top, box.left))
    cut = _columns(ordered) if depth < DEPTH else None
    if cut is None:
        return _rows(ordered)
    first, last, gutter = cut
    middle = ordered[first:last]
    left = [box for box in middle if box.left < gutter]
    right = [box for box in middle if box.left >= gutter]
    parts = (ordered[:first], *((right, left) if _leftward(middle) else (left, right)), ordered[last:])
    lines: list[str] = []
    for part in parts:
        if part:
            lines += [*([""] if lines else []), *read(part, depth + 1)]
    return lines


def tallest(boxes: Sequence[Box], most: int = 3) -> list[str]:
    """Return the lines in the largest letters, the largest first."""
    ranked = sorted(boxes, key=lambda box: (-round(box.height), box.top))
    return [box.text for box in ranked[:most]]


def _columns(boxes: Sequence[Box]) -> tuple[int, int, float] | None:
    """Find where columns run: from which piece to which, and the place of the gutter."""
    best: tuple[int, int, int, float] | None = None
    for edge in _edges(boxes):
        for first, last in _runs(boxes, edge):
            rated = _rate(boxes[first:last], edge)
            if rated and (best is None or rated > best[0]):
                best = (rated, first, last, edge)
    return best[1:] if best else None


def _edges(boxes: Iterable[Box]) -> list[float]:
    """List the places where several pieces begin, the most common first."""
    counts: dict[int, list[float]] = {}
    for box in boxes:
        counts.setdefault(round(box.left / 4), []).append(box.left)
    common = sorted(counts.values(), key=len, reverse=True)[:EDGES]
    return [min(lefts) - 1 for lefts in common]


def _runs(boxes: Sequence[Box], edge: float) -> Iterable[tuple[int, int]]:
    """Give the stretches of pieces of which none crosses the edge."""
    first = 0
    for number, box in enumerate(boxes):
        if box.left < edge < box.right:
            if number - first >= 2 * LINES:
                yield first, number
            first = number + 1
    if len(boxes) - first >= 2 * LINES:
        yield first, len(boxes)


def _rate(boxes: Sequence[Box], edge: float) -> int:
    """Say how good a gutter is: the letters on its poorer side; 0 if these are no columns."""
    left = [box for box in boxes if box.left < edge]
    right = [box for box in boxes if box.left >= edge]
    if len(left) < LINES or len(right) < LINES:
        return 0
    if min(box.left for box in right) - max(box.right for box in left) < GUTTER:
        return 0
    letters = min(sum(len(box.text) for box in side) for side in (left, right))
    return letters if letters >= CHARACTERS and _independent(left, right) else 0


def _independent(left: Sequence[Box], right: Sequence[Box]) -> bool:
    """Say whether two sides are columns to be read one after the other, and not the cells of rows."""
    titled = [any(sections.heading(box.text) for box in side) for side in (left, right)]
    if any(_is_margin(side) for side in (left, right)):
        return False
    if all(titled):
        return True
    middles = sorted(box.middle for box in right)
    aligned = sum(1 for box in left if any(abs(box.middle - middle) < 2 for middle in middles))
    return aligned < 0.6 * min(len(left), len(right))


def _is_margin(boxes: Sequence[Box]) -> bool:
    """Say whether a side holds mostly dates, which belong to what stands beside them."""
    dated = sum(1 for box in boxes if len(box.text) < 32 and _DATES.search(box.text))
    return 2 * dated > len(boxes)


def _rows(boxes: Sequence[Box]) -> list[str]:
    lines: list[str] = []
    row: list[Box] = []
    for box in [*sorted(boxes, key=lambda box: box.middle), None]:
        if row and (box is None or box.middle - row[-1].middle > 0.5 * max(row[-1].height, 4)):
            lines.append(_join(row))
            if box and box.top - max(one.bottom for one in row) > 1.3 * max(one.height for one in row):
                lines.append("")
            row = []
        if box:
            row.append(box)
    return lines


def _join(row: list[Box]) -> str:
    backwards = _leftward(row)
    ordered = sorted(row, key=lambda box: box.left, reverse=backwards)
    line = ordered[0].text
    for before, box in pairwise(ordered):
        gap = before.left - box.right if backwards else box.left - before.right
        line += ("\t" if gap > CELL else " ") + box.text
    return line


def _leftward(boxes: Sequence[Box]) -> bool:
    """Say whether the text runs from right to left."""
    letters = [unicodedata.bidirectional(char) for box in boxes[:200] for char in box.text]
    return sum(1 for kind in letters if kind in {"R", "AL"}) > sum(1 for kind in letters if kind == "L")
