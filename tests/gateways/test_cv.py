"""What is read in CVs of many layouts, languages and formats."""

import io

import docx
import pytest

from gateways.cv import reading
from gateways.cv.kinds import KINDS, MEDIA_TYPES, sniff
from tests.cvs.expected import TODAY
from tests.cvs.library import MAKERS

LISTED = ("emails", "phones", "links", "skills", "titles", "employers")


def facts(profile):
    """List what a profile says, one fact each."""
    found = {(name, value) for name in LISTED for value in profile[name]}
    found |= {("name", profile["name"]), ("total_years", profile["total_years"])}
    for name, keys in (
        ("positions", ("title", "employer", "start", "end")),
        ("education", ("level", "institution")),
    ):
        found |= {
            (name, one if isinstance(one, tuple) else tuple(one[key] for key in keys))
            for one in profile[name]
        }
    return found


@pytest.fixture(scope="module")
def library():
    return [(made := maker(), reading.parse(made.content, made.name, today=TODAY)) for maker in MAKERS]


def test_nearly_everything_a_person_reads_is_found(library, capsys):
    wanted, found, strange, lines = 0, 0, 0, []
    for made, parsed in library:
        if made.error:
            continue
        right, read = facts(made.expected), facts(parsed.profile)
        # More skills than were listed are no fault; more of anything else is.
        extra = {fact for fact in read - right if fact[0] != "skills"}
        wanted, found, strange = wanted + len(right), found + len(right & read), strange + len(extra)
        lines.append(f"{len(right & read):4} of {len(right):3}  {made.name}")
        lines += [f"{'missing':>15}  {fact}" for fact in sorted(map(str, right - read))]
        lines += [f"{'not there':>15}  {fact}" for fact in sorted(map(str, extra))]
    with capsys.disabled():
        print("\n" + "\n".join(lines))
        print(f"{found} of {wanted} fields found: {found / wanted:.1%}; {strange} found that are not there")
    assert len(library) >= 12
    assert found / wanted >= 0.97
    assert strange <= 0.02 * wanted


@pytest.mark.parametrize("number", range(len(MAKERS)), ids=[maker.__name__ for maker in MAKERS])
def test_each_cv_has_its_kind_and_profile(library, number):
    made, parsed = library[number]
    assert parsed.kind == sniff(made.content)
    if made.error:
        assert made.error in parsed.error
        assert (parsed.profile, parsed.text) == (None, "")
        return
    assert parsed.error is None
    assert parsed.profile["text"] == parsed.text
    right, read = facts(made.expected), facts(parsed.profile)
    assert len(right & read) >= 0.75 * len(right)
    for name in ("name", "emails", "phones"):
        assert parsed.profile[name] == made.expected[name]


def test_the_same_file_has_the_same_profile_every_time(library):
    made, parsed = library[0]
    assert reading.parse(made.content, "another name.docx", today=TODAY) == parsed


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"%PDF-1.7\n", "pdf"),
        (b"\xef\xbb\xbf \n%PDF-1.4", "pdf"),
        (b"PK\x03\x04....[Content_Types].xml....word/document.xml", "docx"),
        (b"PK\x03\x04....xl/workbook.xml", None),
        ("Grüße".encode(), "txt"),
        ("Grüße".encode("utf-16"), "txt"),
        ("Привет, мир".encode("cp1251"), "txt"),
        (b"", None),
        (b" \n ", None),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", None),
        (b"{\\rtf1 Hello}", None),
        (b"<!DOCTYPE html><p>Hello", None),
        (b"  <script>alert(1)</script>", None),
        (b"\x89PNG\r\n\x1a\n", None),
        (b"MZ\x90\x00\x03", None),
        (b"\x7fELF\x02\x01\x01\x00", None),
    ],
)
def test_a_file_is_what_its_content_says(content, kind):
    assert sniff(content) == kind
    if kind is None:
        parsed = reading.parse(content, "cv.pdf", today=TODAY)
        assert parsed.kind is None
        assert parsed.error.endswith(".")


def test_a_word_document_that_says_nothing_of_its_pages_is_read_like_any_other():
    document, content = docx.Document(), io.BytesIO()
    document.add_paragraph("Ada Lovelace")
    document.element.body.remove(document.element.body.sectPr)
    document.save(content)
    parsed = reading.parse(content.getvalue(), "cv.docx", today=TODAY)
    assert (parsed.kind, parsed.error, parsed.text.strip()) == ("docx", None, "Ada Lovelace")


def test_every_kind_has_a_media_type():
    assert set(KINDS) == set(MEDIA_TYPES) == {"pdf", "docx", "txt"}


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", "Ünïcödé"),
        ("utf-8-sig", "Ünïcödé"),
        ("utf-16", "Ünïcödé Иван 王"),
        ("cp1252", "Élève à l'école, größer"),
        ("cp1251", "Опыт работы: инженер-программист"),
        ("cp1253", "Επαγγελματική εμπειρία, μηχανικός"),
        ("cp1255", "ניסיון תעסוקתי"),
        ("cp932", "職務経歴、プログラマーとして開発しました"),
        ("gb18030", "工作经历、高级软件工程师。负责平台开发"),
        ("euc_kr", "경력 사항 백엔드 개발자"),
    ],
)
def test_text_is_read_in_the_encoding_it_was_written_in(encoding, text):
    assert reading.parse(text.encode(encoding), today=TODAY).text == text
