"""Files made to break what reads them: each gets a reason, nothing falls over, memory stays bounded."""

import io
import json
import random
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import docx
import pytest

from gateways.cv import profiles, reading
from gateways.cv.reading import TOO_LONG
from gateways.cv.texts import Text
from tests.cvs import latin
from tests.cvs.expected import TODAY
from tests.cvs.makers import Page, paragraphs, word

ROOT = Path(__file__).resolve().parents[2]
MAX_MIB = 300

PARSE = """
import json, resource, sys
from tests.cvs.expected import TODAY
from gateways.cv import reading
parsed = reading.parse(sys.stdin.buffer.read(), sys.argv[1], today=TODAY)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(json.dumps([parsed.kind, parsed.error, (parsed.profile or {}).get("name"), peak]))
"""


def read(content):
    """Parse in a process of its own, so that the peak of the process under it is that of this file."""
    done = subprocess.run(
        [sys.executable, "-c", PARSE, "cv"],
        input=content, capture_output=True, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def raw_pdf(*objects, trailer="/Root 1 0 R"):
    """Write a PDF from the bodies of its objects."""
    out, places = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n" % number + (body if isinstance(body, bytes) else body.encode()) + b"\nendobj\n"
    at = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return bytes(out) + f"trailer\n<</Size {len(objects) + 1} {trailer}>>\nstartxref\n{at}\n%%EOF".encode()


def stream(data, extra=""):
    return f"<</Length {len(data)} {extra}>>\nstream\n".encode() + data + b"\nendstream"


CATALOG, ONE_PAGE = "<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>"
PAGE = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>"
FONT = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"


def encrypted_pdf():
    page = Page()
    page.line("Secret Person")
    page.set_encryption(owner_password="owner", user_password="user")
    return page.bytes()


def truncated_pdf():
    content = latin.english_pdf().content
    return content[: len(content) // 3]


def headless_pdf():
    return b"%PDF-1.7\n" + random.Random(1).randbytes(20_000)


def many_pages_pdf():
    page = Page()
    for _ in range(60):
        page.add_page()
        page.line("Page after page")
    return page.bytes()


def claimed_pages_pdf():
    return raw_pdf(CATALOG, "<</Type/Pages/Kids[3 0 R]/Count 100000000>>", PAGE, stream(b""), FONT)


def looped_pages_pdf():
    return raw_pdf(CATALOG, "<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>")


def no_pages_pdf():
    return raw_pdf(CATALOG, "<</Type/Pages/Kids[]/Count 0>>")


def bomb_pdf():
    """One gigabyte of white space behind two layers of compression."""
    inner = zlib.compressobj(9)
    packed = b"".join(inner.compress(b" " * (1 << 20)) for _ in range(1024)) + inner.flush()
    data = zlib.compress(packed, 9)
    contents = stream(data, "/Filter[/FlateDecode/FlateDecode]")
    return raw_pdf(CATALOG, ONE_PAGE, PAGE, contents, FONT)


def nested_pdf():
    return raw_pdf(CATALOG, ONE_PAGE, PAGE, stream(b""), "[" * 200_000 + "]" * 200_000)


def form_bomb_pdf():
    """Each form draws the next one thirty times."""
    forms = [
        stream(
            f"/X{level + 1} Do ".encode() * 30,
            f"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X{level + 1} {level + 6} 0 R>>>>",
        )
        for level in range(10)
    ]
    last = stream(b"BT /F 9 Tf (x) Tj ET", "/Type/XObject/Subtype/Form/BBox[0 0 9 9]")
    page = PAGE.replace("/Font<</F 5 0 R>>", "/XObject<</X0 5 0 R>>")
    return raw_pdf(CATALOG, ONE_PAGE, page, stream(b"/X0 Do"), *forms, last)


def script_pdf():
    run = "<</Type/Action/S/JavaScript/JS(app.alert\\(1\\); while\\(true\\){})>>"
    launch = "<</Type/Action/S/Launch/F(/bin/sh)>>"
    text = stream(b"BT /F 20 Tf 50 700 Td (Grace Hopper) Tj ET")
    return raw_pdf(
        f"<</Type/Catalog/Pages 2 0 R/OpenAction {run}/AA<</WC {launch}>>>>", ONE_PAGE, PAGE, text, FONT
    )


def crowded_pdf():
    """A page on which every letter stands alone."""
    letters = b"".join(
        b"1 0 0 1 %d %d Tm (a) Tj " % (number % 97 * 6, number * 7 % 797) for number in range(30_000)
    )
    return raw_pdf(CATALOG, ONE_PAGE, PAGE, stream(b"BT /F 5 Tf " + letters + b"ET"), FONT)


def fuzzed(content, seed):
    """Change some bytes, past the mark that says what the file is."""
    random_ = random.Random(seed)
    damaged = bytearray(content)
    for _ in range(200):
        damaged[random_.randrange(16, len(damaged))] = random_.randrange(256)
    return bytes(damaged)


def rewritten(change, extra=(), lines=("Ada Lovelace", "# Skills", "Python")):
    """Make a Word file with another document inside."""
    original = zipfile.ZipFile(io.BytesIO(word(lambda document: paragraphs(document, lines))))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for item in original.infolist():
            data = original.read(item.filename)
            archive.writestr(item.filename, change(data) if item.filename == "word/document.xml" else data)
        for name, data in extra:
            archive.writestr(name, data)
    return out.getvalue()


def truncated_docx():
    content = latin.german_docx().content
    return content[: len(content) // 2]


def bomb_docx():
    return rewritten(lambda data: data.replace(b"</w:body>", b" " * (400 << 20) + b"</w:body>"))


def lying_bomb_docx():
    """The archive says that its document is small."""
    content = bytearray(bomb_docx())
    at = content.rindex(b"PK\x01\x02")
    while content[at + 46 : at + 46 + 17] != b"word/document.xml":
        at = content.rindex(b"PK\x01\x02", 0, at)
    content[at + 24 : at + 28] = (4096).to_bytes(4, "little")
    return bytes(content)


def heavy_docx():
    """Many parts that together unpack to far more than one CV."""
    return rewritten(lambda data: data, [(f"word/media/{n}.bin", b"\0" * (8 << 20)) for n in range(20)])


def dense_docx():
    """Just under what one part may weigh, and all of it elements."""
    return rewritten(lambda data: data.replace(b"<w:body>", b"<w:body>" + b"<w:p><w:r/></w:p>" * 550_000))


def many_parts_docx():
    return rewritten(lambda data: data, [(f"word/part{number}.xml", b"<a/>") for number in range(3000)])


def entities_docx():
    bomb = b'<!DOCTYPE x [<!ENTITY a "' + b"ha" * 1000 + b'">'
    for before, after in zip("abcdefgh", "bcdefghi", strict=True):
        bomb += f'<!ENTITY {after} "{f"&{before};" * 20}">'.encode()
    return rewritten(
        lambda data: data.replace(b"<w:document", bomb + b"]><w:document", 1).replace(b"Ada", b"&i;")
    )


def outside_docx():
    """Asks for a file of the machine."""
    entity = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><w:document'
    return rewritten(lambda data: data.replace(b"<w:document", entity, 1).replace(b"Python", b"&a;"))


def deep_docx():
    return rewritten(lambda data: data.replace(b"<w:body>", b"<w:body>" + b"<w:sdt>" * 50_000))


def table_in_table_docx():
    def build(document):
        cell = document.add_table(1, 1).rows[0].cells[0]
        for _ in range(30):
            cell = cell.add_table(1, 1).rows[0].cells[0]
        cell.text = "at the bottom"
        document.add_paragraph("Ada Lovelace")

    return word(build)


def locked_docx():
    content = bytearray(rewritten(lambda data: data))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.find(mark)
        while at >= 0:
            content[at + offset] |= 1
            at = content.find(mark, at + 4)
    return bytes(content)


def empty_docx():
    document, content = docx.Document(), io.BytesIO()
    document.save(content)
    return content.getvalue()


def no_document_docx():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/nothing.xml", "<a/>")
    return out.getvalue()


REFUSED = {
    encrypted_pdf: "password", truncated_pdf: "damaged", headless_pdf: "damaged", many_pages_pdf: "61 pages",
    claimed_pages_pdf: "no text", looped_pages_pdf: ".", no_pages_pdf: ".", bomb_pdf: "memory",
    nested_pdf: ".", truncated_docx: "damaged", bomb_docx: "unpacks", lying_bomb_docx: "memory",
    heavy_docx: "unpacks", many_parts_docx: "unpacks", entities_docx: "damaged", deep_docx: "damaged",
    locked_docx: "password", empty_docx: "no text", no_document_docx: "damaged",
}  # fmt: skip


@pytest.mark.parametrize("make", REFUSED, ids=lambda make: make.__name__)
def test_a_hostile_file_gets_a_reason_and_little_memory(make):
    kind, error, _, peak = read(make())
    assert kind == make.__name__.rsplit("_", 1)[-1]
    assert REFUSED[make] in error
    assert error[0].isupper()
    assert error.endswith(".")
    assert peak < MAX_MIB


@pytest.mark.parametrize(
    "make",
    [crowded_pdf, form_bomb_pdf, dense_docx, outside_docx, table_in_table_docx],
    ids=lambda make: make.__name__,
)
def test_what_is_heavy_or_odd_is_read_or_refused_within_the_limits(make):
    _, error, _, peak = read(make())
    assert error is None or error.endswith(".")
    assert peak < MAX_MIB


def test_scripts_in_a_pdf_are_not_run():
    kind, error, name, peak = read(script_pdf())
    assert (kind, error, name) == ("pdf", None, "Grace Hopper")
    assert peak < MAX_MIB


def test_files_of_the_machine_stay_out_of_a_cv():
    parsed = reading.parse(outside_docx(), today=TODAY)
    assert "root:" not in parsed.text


def test_a_file_that_takes_too_long_is_given_up():
    assert reading.parse(latin.english_pdf().content, seconds=0.01, today=TODAY).error == TOO_LONG


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make", [latin.english_pdf, latin.german_docx], ids=["pdf", "docx"])
def test_a_damaged_file_is_read_or_refused(make, seed):
    parsed = reading.parse(fuzzed(make().content, seed), today=TODAY)
    assert (parsed.profile is None) is (parsed.error is not None)


@pytest.mark.parametrize(
    "text",
    [
        "a." * 200_000 + "@",
        "a@" + "b." * 200_000,
        "+1 (2) " * 100_000,
        "1 2 3 4 5 6 7 8 9 " * 30_000,
        "- " * 300_000,
        "2019 - " * 100_000,
        "https://" * 80_000,
        "Name: " * 100_000,
        "C, " * 200_000,
        "x" * 3_000_000,
        "a" + "\n" * 3_000_000,
        "(" * 500_000,
        "ẍ̈̈̈" * 200_000,
        "Experience\n" + "2019 - 2020\n" * 20_000,
    ],
    ids=range(14),
)
def test_a_text_that_goes_on_for_ever_is_read_in_time(text):
    parsed = reading.parse(text.encode(), today=TODAY)
    assert parsed.error is None
    assert len(parsed.text) <= 100_000


@pytest.mark.parametrize("line", ["", "a", "x" * 3_000], ids=["empty", "short", "long"])
def test_what_comes_after_the_longest_text_is_not_looked_at(line):
    lines = iter([line] * 500_000)
    assert len(profiles.profile(Text(lines), TODAY)["text"]) == 100_000
    assert len(list(lines)) >= 500_000 - 100_001


def test_a_line_is_looked_at_in_pieces_and_a_title_no_further_than_the_first(monkeypatch):
    looked_at = []
    monkeypatch.setattr(
        profiles, "_clean", lambda line, clean=profiles._clean: looked_at.append(len(line)) or clean(line)
    )
    found = profiles.profile(Text(["x" * 3_000_000], prominent=["Ada " * 1_000_000]), TODAY)
    assert max(looked_at) == 1_000
    assert found["name"] is None
