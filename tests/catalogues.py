"""Gather the texts that people read into the catalogues: `python -m tests.catalogues`; with a tag, begin another one.

Where texts stand says pyproject.toml. What nobody says any more goes.
"""

import contextlib
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from babel import Locale
from babel.messages.catalog import Catalog
from babel.messages.frontend import CommandLineInterface
from babel.messages.pofile import read_po, write_po

from rules import languages

HEADER = """# {name}: what people read.
msgid ""
msgstr ""
"Language: {tag}\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: {plurals}\\n"

"""


def gathered() -> Catalog:
    """Return every text that there is."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(languages.FOLDER.parent):
        to = Path(folder) / "texts.pot"
        how = ["-k", "say", "-k", "say_many:1,2", "--add-location=file", "--sort-by-file"]
        CommandLineInterface().run(
            ["pybabel", "--quiet", "extract", "-F", "pyproject.toml", *how, "-o", str(to), "."]
        )
        return read_po(BytesIO(to.read_bytes()))


def updated(tag: str, there: bytes, texts: Catalog) -> bytes:
    """Return a catalogue with all texts and no others, and what was translated of them."""
    locale = Locale.parse(tag, sep="-")
    catalogue = read_po(BytesIO(there), locale=locale)
    catalogue.update(texts, no_fuzzy_matching=True)
    header = HEADER.format(name=locale.english_name, tag=tag, plurals=catalogue.plural_forms)
    to = BytesIO(header.encode())
    to.seek(0, 2)
    write_po(to, catalogue, width=120, omit_header=True, ignore_obsolete=True, sort_by_file=True)
    return to.getvalue()


def main(begun: list[str]) -> None:
    """Bring every catalogue up to date."""
    texts = gathered()
    for tag in begun:
        (languages.FOLDER / f"{tag}.po").touch()
    for path in sorted(languages.FOLDER.glob("*.po")):
        path.write_bytes(updated(path.stem, path.read_bytes(), texts))


if __name__ == "__main__":
    main(sys.argv[1:])
