"""The text of a Word document: paragraphs, tables, text boxes, headers and footers."""

import io
import zipfile
from collections.abc import Iterable, Iterator

import docx
from docx.document import Document
from docx.section import _Footer, _Header
from docx.table import Table, _Cell
from docx.text.paragraph import Paragraph

from gateways.cv.errors import UnreadableError
from gateways.cv.texts import Text
from insides.docx import identity, text_boxes

MIB = 1 << 20
MAX_PARTS = 2_000
MAX_UNPACKED = 48 * MIB  # pictures and all
MAX_XML = 10 * MIB  # of one part
MAX_LINES = 5_000
DEPTH = 8  # tables in tables

DAMAGED = "The Word document is damaged or incomplete."
PROTECTED = "The Word document is protected by a password."
TOO_MUCH = "The Word document unpacks to far more than a CV."
NO_TEXT = "The Word document holds no text."


def text(content: bytes) -> Text:
    """Return the text of a Word document; UnreadableError says why there is none. Macros are not run."""
    _weigh(content)
    try:
        found = _read(docx.Document(io.BytesIO(content)))
    except (MemoryError, RecursionError):
        raise
    except Exception:
        raise UnreadableError(DAMAGED) from None
    if not any(char.isalnum() for line in found.lines for char in line):
        raise UnreadableError(NO_TEXT)
    return found


def _weigh(content: bytes) -> None:
    """Refuse an archive that is damaged, locked or a bomb, by what it declares; more is never unpacked."""
    try:
        parts = zipfile.ZipFile(io.BytesIO(content)).infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        raise UnreadableError(DAMAGED) from None
    if any(part.flag_bits & 1 for part in parts):
        raise UnreadableError(PROTECTED)
    large = any(
        part.file_size > MAX_XML for part in parts if part.filename.lower().endswith((".xml", ".rels"))
    )
    if large or len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED:
        raise UnreadableError(TOO_MUCH)


def _read(document: Document) -> Text:
    found = Text()
    sections = list(document.sections)[:1]  # none where the body says nothing of its pages
    headers: list[_Header | _Footer] = [section.header for section in sections]
    footers: list[_Header | _Footer] = [section.footer for section in sections]
    for part in (*headers, document, *footers):
        for line in _lines(part.iter_inner_content(), 0):
            found.lines.append(line)
            if len(found.lines) > MAX_LINES:
                return found
    found.prominent = _prominent(document)
    found.links = [link.target_ref for link in document.part.rels.values() if link.is_external]
    return found


def _lines(blocks: Iterable[Paragraph | Table], depth: int) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Table):
            yield from _table(block, depth)
            yield ""
        else:
            yield from _paragraph(block)


def _paragraph(paragraph: Paragraph) -> Iterator[str]:
    for box in text_boxes(paragraph):
        yield from (inner.text for inner in box)
        yield ""
    yield from paragraph.text.split("\n")


def _table(table: Table, depth: int) -> Iterator[str]:
    if depth >= DEPTH:
        return
    for row in table.rows:
        cells: dict[int, list[str]] = {}
        for cell in row.cells:
            cells.setdefault(identity(cell), _cell(cell, depth))
        yield from _row([lines for lines in cells.values() if lines])


def _cell(cell: _Cell, depth: int) -> list[str]:
    lines = [line.rstrip() for line in _lines(cell.iter_inner_content(), depth + 1)]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _row(cells: list[list[str]]) -> Iterator[str]:
    """Write a row of data as one line, and one that only lays out columns cell by cell."""
    short = [cell for cell in cells if len(cell) <= 2]
    if len(short) == len(cells):
        yield "\t".join(" ".join(cell) for cell in cells)
    elif len(cells) > 1 and len(short) == len(cells) - 1 and len(cells[0]) <= 2:
        # Dates or a label beside what they are about.
        long = next(cell for cell in cells if len(cell) > 2)
        yield "\t".join([*(" ".join(cell) for cell in short), long[0]])
        yield from long[1:]
        yield ""
    else:
        for cell in cells:
            yield from cell
            yield ""


def _prominent(document: Document, most: int = 15) -> list[str]:
    """List the first paragraphs that are styled as the title or set in the largest letters."""
    sized = []
    for paragraph in document.paragraphs[:most]:
        sizes = [run.font.size.pt for run in paragraph.runs if run.font.size]
        style = (paragraph.style.name or "") if paragraph.style else ""
        size = max(sizes, default=0) + (100 if style == "Title" else 0)
        if size and paragraph.text.strip():
            sized.append((-size, paragraph.text.strip()))
    return [text for _, text in sorted(sized, key=lambda one: one[0])[:3]]
