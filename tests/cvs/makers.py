"""Makes PDF and Word files."""

import io
from pathlib import Path

import docx
from docx.shared import Pt
from fpdf import FPDF

FONT = Path(__file__).resolve().parents[1] / "fonts" / "DejaVuSans.ttf"


class Page(FPDF):
    """A PDF with a font of many scripts."""

    def __init__(self):
        super().__init__()
        self.add_font("body", "", FONT)
        self.add_page()
        self.set_font("body", size=10)

    def line(self, text, size=10, x=None, width=0, align="L"):
        """Write one line; a line of nothing is a gap."""
        self.set_font("body", size=size)
        if x is not None:
            self.set_x(x)
        self.multi_cell(width, size * 0.5, text or " ", align=align, new_x="LMARGIN", new_y="NEXT")

    def column(self, x, y, width, lines, sizes=None):
        """Write lines under each other from a point."""
        self.set_xy(x, y)
        for number, text in enumerate(lines):
            self.line(text, (sizes or {}).get(number, 10), x, width)

    def bytes(self):
        """Finish the file."""
        return bytes(self.output())


def pdf(lines, sizes=None):
    """Make a PDF of one column."""
    page = Page()
    for number, text in enumerate(lines):
        page.line(text, (sizes or {}).get(number, 10))
    return page.bytes()


def word(build):
    """Make a Word file."""
    document = docx.Document()
    build(document)
    content = io.BytesIO()
    document.save(content)
    return content.getvalue()


def paragraphs(document, lines, title=True):
    """Add paragraphs, the first in large letters; those that begin with # are headings, with * bullets."""
    for number, text in enumerate(lines):
        if text.startswith("# "):
            document.add_heading(text[2:], level=1)
        elif text.startswith("* "):
            document.add_paragraph(text[2:], style="List Bullet")
        else:
            run = document.add_paragraph().add_run(text)
            if title and not number:
                run.font.size = Pt(22)
