"""Draws figures as bars: SVG, for light pages and for dark ones."""

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
    },
    "dark": {
        "text": "#f0f6fc",
        "quiet": "#9198a1",
        "ours": "#4493f8",
        "theirs": "#656c76",
        "spread": "#f0f6fc",
    },
}
WIDTH, MARGIN, NAMES, VALUES = 760, 16, 170, 190  # of which names and values take that much beside the bars
ROW, BAR, HEAD = 24, 14, 44


@dataclass(frozen=True)
class Bar:
    """One bar with its spread and what stands behind it."""

    name: str
    value: float
    spread: tuple[float, float]
    says: str
    is_ours: bool = False


def draw(title: str, description: str, panels: Mapping[str, Sequence[Bar]], scheme: str) -> str:
    """Return the picture: for each panel its heading and bars that begin at nothing."""
    colours = COLOURS[scheme]
    height = 2 * MARGIN + sum(HEAD + ROW * len(bars) for bars in panels.values())
    svg = ET.Element(
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
    ET.SubElement(svg, "title", id="title").text = title
    ET.SubElement(svg, "desc", id="description").text = description

    def write(text: str, x: float, y: float, colour: str, **more: str) -> None:
        ET.SubElement(
            svg, "text", {"x": f"{x:g}", "y": f"{y:g}", "fill": colours[colour], **more}
        ).text = text

    def fill(x: float, y: float, width: float, tall: float, colour: str) -> None:
        size = {"x": f"{x:.1f}", "y": f"{y:g}", "width": f"{width:.1f}", "height": f"{tall:g}"}
        ET.SubElement(svg, "rect", {**size, "fill": colours[colour]})

    top = MARGIN
    for heading, bars in panels.items():
        write(heading, MARGIN, top + 22, "text", **{"font-weight": "600"})
        top += HEAD
        left = MARGIN + NAMES
        scale = (WIDTH - left - VALUES - MARGIN) / max(bar.spread[1] for bar in bars)
        for bar in bars:
            middle = top + BAR / 2
            write(bar.name, left - 10, middle + 4.5, "text", **{"text-anchor": "end"})
            fill(left, top, bar.value * scale, BAR, "ours" if bar.is_ours else "theirs")
            least, most = (left + one * scale for one in bar.spread)
            fill(least, middle - 0.75, max(1.0, most - least), 1.5, "spread")
            write(bar.says, most + 8, middle + 4.5, "quiet")
            top += ROW
    ET.indent(svg)
    return ET.tostring(svg, encoding="unicode") + "\n"
