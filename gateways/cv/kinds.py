"""What kind of file a CV is, by its content."""

import re
import unicodedata

from rules.words import say

MEDIA_TYPES = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "txt": "text/plain",
}
KINDS = tuple(MEDIA_TYPES)

SAMPLE = 64 * 1024  # bytes of a text file that are looked at
HEAD = 1024  # the PDF mark may stand anywhere in the first kilobyte

ENCODED = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))

# Texts by their bytes, documents of another kind by their sense.
MARKUP = re.compile(r"\s*(?:<!doctype|<html|<\?xml|<svg|<script|\{\\rtf|%!PS)", re.IGNORECASE)

# Why something is none of the three, by how it begins.
OTHERS = (
    (
        b"\xd0\xcf\x11\xe0",
        say("The file is an old Word document (.doc) or is protected by a password; send a PDF or DOCX."),
    ),
    (b"{\\rtf", say("The file is rich text (RTF); send a PDF, DOCX or plain text file.")),
    (b"PK", say("The file is an archive and not a Word document.")),
    (b"\x89PNG", say("The file is a picture; send a PDF, DOCX or plain text file.")),
    (b"\xff\xd8\xff", say("The file is a picture; send a PDF, DOCX or plain text file.")),
    (b"GIF8", say("The file is a picture; send a PDF, DOCX or plain text file.")),
)
OTHER = say("The file is not a PDF, DOCX or plain text file.")
EMPTY = say("The file is empty.")


def sniff(content: bytes) -> str | None:
    """Say what the content is: pdf, docx or txt; None for anything else, whatever its name."""
    if b"%PDF-" in content[:HEAD]:
        return "pdf"
    if content.startswith(b"PK\x03\x04"):
        return "docx" if b"[Content_Types].xml" in content and b"word/" in content else None
    return "txt" if _is_text(content) else None


def why_not(content: bytes) -> str:
    """Say in a sentence why content is of no kind that can be read."""
    if not content.strip():
        return EMPTY
    return next((reason for mark, reason in OTHERS if content.startswith(mark)), OTHER)


def decode(content: bytes) -> str:
    """Read a text file's bytes: by its mark, as UTF-8, or in the single-byte set that gives the most letters."""
    for mark, encoding in ENCODED:
        if content.startswith(mark):
            return content.decode(encoding, errors="replace")
    try:
        return content.decode()
    except UnicodeDecodeError:
        pass
    return max((content.decode(name, errors="replace") for name in _SETS), key=_plausible)


# In this order where two fit alike.
_SETS = ("cp1252", "cp1251", "cp1253", "cp1250", "cp1255", "cp1256", "cp932", "euc_kr", "gb18030", "big5")


def _plausible(text: str) -> float:
    """Rate a reading by its letters beyond ASCII: whole words of one script, small letters inside words."""
    sample = text[:SAMPLE]
    rating = 0.0
    for word in re.findall(r"[^\W\d_]+", sample):
        scripts = {_SCRIPT.get(name := unicodedata.name(char, "?").split()[0], name) for char in word}
        foreign = sum(1 for char in word if not char.isascii())
        # A Latin word is mostly plain letters: one full of accents is another script read wrongly.
        odd = scripts == {"LATIN"} and len(word) > 2 and 2 * foreign > len(word)
        if scripts == {"CJK"}:
            rating += sum(1 if _is_common(char) else -1 for char in word)
        else:
            rating += foreign if len(scripts) == 1 and word[1:] == word[1:].lower() and not odd else -foreign
    # A text without a single capital is rare where letters have cases: Hebrew, read as Cyrillic, has none.
    if sample == sample.lower() and sample != sample.upper():
        rating *= 0.9
    return rating - 3 * sum(
        1 for char in sample if char == "\ufffd" or unicodedata.category(char) in {"Cc", "Co"}
    )


# Written together in one word.
_SCRIPT = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK", "HALFWIDTH": "?"}


def _is_common(char: str) -> bool:
    """Say whether a character is one that people write: kana, and ideographs of the first national sets."""
    if char < "\u3400":
        return True
    for encoding in ("gb2312", "shift_jis", "big5"):
        try:
            if char.encode(encoding)[0] < _FIRST_RARE[encoding]:
                return True
        except UnicodeEncodeError:
            continue
    return False


# These sets are sorted: common characters first, rare ones from this byte on.
_FIRST_RARE = {"gb2312": 0xD8, "shift_jis": 0x98, "big5": 0xC9}


def _is_text(content: bytes) -> bool:
    sample = content[:SAMPLE]
    if not content.strip() or any(content.startswith(mark) for mark, _ in OTHERS if mark != b"PK"):
        return False
    marked = any(content.startswith(mark) for mark, _ in ENCODED)
    if not marked and b"\0" in content:
        return False
    text = decode(sample)
    strange = sum(1 for char in text if unicodedata.category(char) == "Cc" and char not in "\t\n\r\f\v\b\x1a")
    return strange <= len(text) // 500 and not MARKUP.match(text)
