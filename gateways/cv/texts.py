"""The text of a file, and what its layout says beyond the text."""

from dataclasses import dataclass, field


@dataclass
class Text:
    """Lines in reading order, the lines in the largest letters, and where links lead."""

    lines: list[str] = field(default_factory=list)
    prominent: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
