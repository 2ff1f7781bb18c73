"""Draws figures: SVG, for light pages and for dark ones, as bars or as curves over time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

COLOURS = {
    "light": {
        "text": "#1f2328",
        "quiet": "#59636e",
        "ours": "#0969da",
        "theirs": "#8c959f",
        "spread": "#1f2328",
        "grid": "#d1d9e0",
    },
    "dark": {
        "text": "#f0f6fc",
        "quiet": "#9198a1",
        "ours": "#4493f8",
        "theirs": "#656c76",
        "spread": "#f0f6fc",
        "grid": "#3d444d",
    },
}
# Of curves in one panel.
SERIES = {
    "light": ("#0969da", "#bc4c00", "#1a7f37", "#8250df", "#bf3989", "#59636e"),
    "dark": ("#4493f8", "#db6d28", "#3fb950", "#ab7df8", "#db61a2", "#9198a1"),
}
WIDTH, MARGIN, NAMES, VALUES = 760, 16, 170, 190  # of which names and values take that much beside the bars
ROW, BAR, HEAD = 24, 14, 44
SCALE, LEGEND, TALL, FOOT = 64, 150, 96, 30  # beside curves, and how tall they and what is below them are
NAME = 16  # the least from one curve's name to the next


@dataclass(frozen=True)
class Bar:
    """One bar with its spread and what stands behind it."""

    name: str
    value: float
    spread: tuple[float, float]
    says: str
    is_ours: bool = False


class Sheet:
    """A picture that is being drawn; colours go by the names of COLOURS, or are colours."""

    def __init__(self, title: str, description: str, height: float, scheme: str) -> None:
        self.colours = COLOURS[scheme]
        self.svg = ET.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "viewBox": f"0 0 {WIDTH} {height}",
                "role": "img",
                "aria-labelledby": "title description",
                "font-family": "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
                "font-size": "13",
            },
        )
        ET.SubElement(self.svg, "title", id="title").text = title
        ET.SubElement(self.svg, "desc", id="description").text = description

    def write(self, text: str, x: float, y: float, colour: str, **more: str) -> None:
        """Write a line whose base is at `y`."""
        given = {"x": f"{x:g}", "y": f"{y:g}", "fill": self.colours.get(colour, colour), **more}
        ET.SubElement(self.svg, "text", given).text = text

    def fill(self, x: float, y: float, width: float, tall: float, colour: str) -> None:
        """Draw a rectangle."""
        size = {"x": f"{x:.1f}", "y": f"{y:g}", "width": f"{width:.1f}", "height": f"{tall:g}"}
        ET.SubElement(self.svg, "rect", {**size, "fill": self.colours.get(colour, colour)})

    def line(self, points: Sequence[tuple[float, float]], colour: str) -> None:
        """Draw a line through points."""
        given = {
            "points": " ".join(f"{x:.1f},{y:.1f}" for x, y in points),
            "fill": "none",
            "stroke-width": "1.5",
        }
        ET.SubElement(self.svg, "polyline", {**given, "stroke": colour, "stroke-linejoin": "round"})

    def drawn(self) -> str:
        """Return the whole."""
        ET.indent(self.svg)
        return ET.tostring(self.svg, encoding="unicode") + "\n"


def draw(title: str, description: str, panels: Mapping[str, Sequence[Bar]], scheme: str) -> str:
    """Return the picture: for each panel its heading and bars that begin at nothing."""
    height = 2 * MARGIN + sum(HEAD + ROW * len(bars) for bars in panels.values())
    sheet = Sheet(title, description, height, scheme)
    top = MARGIN
    for heading, bars in panels.items():
        sheet.write(heading, MARGIN, top + 22, "text", **{"font-weight": "600"})
        top += HEAD
        left = MARGIN + NAMES
        scale = (WIDTH - left - VALUES - MARGIN) / max(bar.spread[1] for bar in bars)
        for bar in bars:
            middle = top + BAR / 2
            sheet.write(bar.name, left - 10, middle + 4.5, "text", **{"text-anchor": "end"})
            sheet.fill(left, top, bar.value * scale, BAR, "ours" if bar.is_ours else "theirs")
            least, most = (left + one * scale for one in bar.spread)
            sheet.fill(least, middle - 0.75, max(1.0, most - least), 1.5, "spread")
            sheet.write(bar.says, most + 8, middle + 4.5, "quiet")
            top += ROW
    return sheet.drawn()


Curves = Mapping[str, Sequence[tuple[float, float]]]


def curves(
    title: str, notes: Sequence[str], description: str, panels: Mapping[str, Curves], scheme: str
) -> str:
    """Return the picture: notes, and for each panel its heading and curves over seconds, named at their end."""
    height = 2 * MARGIN + len(notes) * NAME + len(panels) * (HEAD + TALL + FOOT)
    sheet = Sheet(title, description, height, scheme)
    left, right = MARGIN + SCALE, WIDTH - MARGIN - LEGEND
    ends = max(moment for drawn in panels.values() for points in drawn.values() for moment, _ in points)
    top = MARGIN
    for note in notes:
        top += NAME
        sheet.write(note, MARGIN, top - 4, "quiet", **{"font-size": "11"})
    for heading, drawn in panels.items():
        sheet.write(heading, MARGIN, top + 22, "text", **{"font-weight": "600"})
        top += HEAD
        bottom = top + TALL
        most = max([1e-9, *(value for points in drawn.values() for _, value in points)])
        for share in (0, 0.5, 1):
            y = bottom - share * TALL
            sheet.fill(left, y - 0.5, right - left, 1, "grid")
            sheet.write(short(share * most), left - 8, y + 4.5, "quiet", **{"text-anchor": "end"})
        for minutes in (0, ends / 120, ends / 60):
            x = left + (right - left) * minutes * 60 / ends
            sheet.write(f"{minutes:.3g} min", x, bottom + 18, "quiet", **{"text-anchor": "middle"})
        for (_, points), colour in zip(drawn.items(), SERIES[scheme], strict=False):
            shown = [
                (left + (right - left) * moment / ends, bottom - TALL * value / most)
                for moment, value in points
            ]
            sheet.line(shown, colour)
        places = named({name: bottom - TALL * points[-1][1] / most for name, points in drawn.items()}, bottom)
        for name, colour in zip(drawn, SERIES[scheme], strict=False):
            sheet.write(name, right + 8, places[name] + 4.5, colour)
        top = bottom + FOOT
    return sheet.drawn()


def short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def named(wanted: Mapping[str, float], bottom: float) -> dict[str, float]:
    """Return where each name stands: beside the end of its curve, and clear of the others."""
    places: dict[str, float] = {}
    free = bottom + NAME / 2
    for name, place in sorted(wanted.items(), key=lambda one: -one[1]):
        places[name] = min(place, free)
        free = places[name] - NAME
    return places
