"""CVs that are written here: for people who are made up."""

import io
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Written:
    """A file as a multipart body would have it."""

    filename: str
    content: bytes
    content_type: str


def write(lines: Sequence[str], *, as_word: bool) -> Written:
    """Write a CV's lines as a Word file, or as plain text."""
    if not as_word:
        return Written("cv.txt", "\n".join(lines).encode(), "text/plain")
    import docx

    document, kept = docx.Document(), io.BytesIO()
    for line in lines:
        document.add_paragraph(line)
    document.save(kept)
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    return Written("cv.docx", kept.getvalue(), kind)
