"""What we reach of python-docx's XML: text boxes, and cells that are merged."""

from collections.abc import Iterator

from docx.oxml.ns import qn
from docx.table import _Cell
from docx.text.paragraph import Paragraph

BOUND = "python-docx>=1.2,<1.3"
LEANS_ON = [
    ("docx/text/paragraph.py", "self._p = self._element = p"),
    ("docx/table.py", "self._tc = self._element = tc"),
]


def text_boxes(paragraph: Paragraph) -> Iterator[list[Paragraph]]:
    """Find the boxes that are anchored in a paragraph, each with its own paragraphs."""
    for box in paragraph._p.iter(qn("w:txbxContent")):
        # Each box is there twice: as it is, and for readers that know no boxes.
        if not any(parent.tag.endswith("}Fallback") for parent in box.iterancestors()):
            yield [Paragraph(inner, paragraph._parent) for inner in box.iter(qn("w:p"))]


def identity(cell: _Cell) -> int:
    """Tell cells apart: a merged one is given once for each of the places it takes."""
    return id(cell._tc)
