"""The text of a PDF, column by column."""

import ctypes
from collections.abc import Iterator

import pypdfium2 as pdfium
from pypdfium2 import raw

from gateways.cv.errors import UnreadableError
from gateways.cv.layout import Box, read, tallest
from gateways.cv.texts import Text

MAX_PAGES = 50
MAX_BOXES = 3_000  # pieces of text on one page
MAX_CHARACTERS = 200_000
MAX_LINKS = 100

# By PDFium's own numbers for why a document does not open.
REASONS = {
    raw.FPDF_ERR_PASSWORD: "The PDF is protected by a password.",
    raw.FPDF_ERR_SECURITY: "The PDF is protected in a way that cannot be read.",
    raw.FPDF_ERR_FORMAT: "The PDF is damaged or incomplete.",
    raw.FPDF_ERR_FILE: "The PDF is damaged or incomplete.",
}
NO_TEXT = "The PDF holds no text; it looks like a scan or a picture."
NO_PAGES = "The PDF has no pages."


def text(content: bytes) -> Text:
    """Return the text of a PDF; UnreadableError says why there is none. Nothing in it is run."""
    try:
        document = pdfium.PdfDocument(content)
    except pdfium.PdfiumError:
        reason = REASONS.get(raw.FPDF_GetLastError(), "The PDF is damaged and could not be opened.")
        raise UnreadableError(reason) from None
    pages = len(document)
    if pages > MAX_PAGES:
        raise UnreadableError(f"The PDF has {pages} pages; a CV may have at most {MAX_PAGES}.")
    if not pages:
        raise UnreadableError(NO_PAGES)
    found = Text()
    for number in range(pages):
        _add(found, document, number)
        if sum(len(line) for line in found.lines) > MAX_CHARACTERS:
            break
    if not any(char.isalnum() for line in found.lines for char in line):
        raise UnreadableError(NO_TEXT)
    return found


def _add(found: Text, document: pdfium.PdfDocument, number: int) -> None:
    try:
        page = document[number]
        textpage = page.get_textpage()
    except pdfium.PdfiumError:
        return
    boxes = list(_boxes(textpage))
    found.lines += [*read(boxes), ""]
    found.links += _links(document, page)
    if not number:
        found.prominent = tallest(boxes)
    textpage.close()
    page.close()


def _boxes(textpage: pdfium.PdfTextPage) -> Iterator[Box]:
    """Give each run of text with its place; y grows downwards."""
    for number in range(min(textpage.count_rects(), MAX_BOXES)):
        left, bottom, right, top = textpage.get_rect(number)
        # A little wider than the letters, or the outermost ones are left out.
        words = textpage.get_text_bounded(left - 0.5, bottom - 0.5, right + 0.5, top + 0.5)
        if words.strip():
            yield Box(left, -top, right, -bottom, " ".join(words.split()))


def _links(document: pdfium.PdfDocument, page: pdfium.PdfPage) -> list[str]:
    """List the addresses that links on a page lead to; the links are read, not followed."""
    found: list[str] = []
    place, link = ctypes.c_int(0), raw.FPDF_LINK()
    while len(found) < MAX_LINKS and raw.FPDFLink_Enumerate(page, place, link):
        action = raw.FPDFLink_GetAction(link)
        if action and raw.FPDFAction_GetType(action) == raw.PDFACTION_URI:
            size = raw.FPDFAction_GetURIPath(document, action, None, 0)
            buffer = ctypes.create_string_buffer(size)
            raw.FPDFAction_GetURIPath(document, action, buffer, size)
            found.append(buffer.value.decode(errors="replace"))
    return found
