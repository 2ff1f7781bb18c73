"""Letters in every script that their fonts have, the same each time, whatever somebody writes into one."""

import unicodedata
from dataclasses import replace
from typing import Any

import pypdfium2
import pytest

from gateways.letters import fonts, printing
from gateways.letters.blocks import blocks
from schemas import html, offers, tongues

LETTER: dict[str, Any] = {
    "organisation_name": "Northwind Labs",
    "candidate_name": "Ada Lovelace",
    "title": "An offer",
    "job_title": "Engineer",
    "compensation_text": "EUR 84,000 a year",
    "start_date": "2031-01-04",
    "body_html": "<p>Dear Ada, we would like you to <b>join us</b>.</p>",
}
# A name, a title and words of a letter.
SCRIPTS = {
    "Latin": ("Łukasz Müller-Nguyễn", "Ingénieur à Zürich", "Herzlich willkommen"),
    "Greek": ("Ελένη Παπαδοπούλου", "Μηχανικός λογισμικού", "Καλωσήρθατε στην ομάδα"),
    "Cyrillic": ("Юлія Шевченко", "Инженер-программист", "Добро пожаловать"),
    "Arabic": ("فاطمة الزهراء", "مهندسة برمجيات", "أهلا وسهلا"),
    "Hebrew": ("שירה לוי", "מהנדסת תוכנה", "ברוכה הבאה"),
    "Chinese": ("王小明", "高级后端工程师", "亲爱的王小明：欢迎您加入我们的团队"),
    "Japanese": ("山田 花子", "シニアエンジニア", "山田様、ようこそ"),
    "Korean": ("김민수", "시니어 백엔드 엔지니어", "진심으로 환영합니다"),
    "Devanagari": ("प्रिया शर्मा", "वरिष्ठ अभियंता", "स्वागत"),
}
TAGS = (
    "<h2>Terms</h2><p>One<br>two <i>three</i> <u>four</u> <s>five</s> <code>six</code> H<sub>2</sub>O x<sup>2</sup></p>"
    "<ul><li>leave<ol><li>thirty days</li></ol></li></ul><blockquote>quoted</blockquote><pre>a  b</pre><hr>"
    "<dl><dt>Where</dt><dd>Lisbon</dd></dl>"
    '<table><tr><th>Year</th><th>Pay</th></tr><tr><td colspan="2">all</td></tr></table>'
    '<p><a href="https://example.com/terms">our terms</a></p>'
)


def flat(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())


def letter(**changes: Any) -> dict[str, Any]:
    """An offer's letter as it is printed, with its facts in English."""
    changed = LETTER | changes
    return changed | {"facts": offers.facts(changed, tongues.of("en"))}


def printed(**changes: Any) -> str:
    """The text of a printed letter, without its spaces."""
    document = pypdfium2.PdfDocument(printing.render(letter(**changes)))
    return flat("".join(page.get_textpage().get_text_bounded() for page in document))


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_letter_says_in_any_script_what_was_written(script: str) -> None:
    name, title, words = SCRIPTS[script]
    assert fonts.unprintable({"candidate_name": name, "title": title, "body_html": words}) == []
    text = printed(candidate_name=name, title=title, body_html=f"<p>{words}</p>")
    for said in (name, title, words, "Northwind Labs", "Engineer", "EUR 84,000 a year", "4 January 2031"):
        assert flat(said) in text, said


def test_arabic_is_set_in_joined_forms() -> None:
    """PDFium gives back the letters; that they are joined is to be seen by the glyphs, of which there are others."""
    joined = printing.render(letter(body_html="<p>ببب</p>"))
    apart = printing.render(letter(body_html="<p>ب ب ب</p>"))
    assert joined != apart
    assert b"Amiri" in joined


def test_everything_that_a_letter_may_hold_is_printed() -> None:
    body = html.clean(TAGS)
    text = printed(body_html=body)
    for said in (
        "Terms",
        "One",
        "two",
        "three",
        "four",
        "five",
        "six",
        "H2O",
        "x2",
        "leave",
        "1.",
        "thirty days",
    ):
        assert flat(said) in text, said
    for said in ("quoted", "a b", "Where", "Lisbon", "Year", "Pay", "all", "our terms"):
        assert flat(said) in text, said
    assert b"https://example.com/terms" in printing.render(letter(body_html=body))


def test_what_is_not_given_is_not_mentioned() -> None:
    text = printed(compensation_text="", start_date=None)
    assert "Compensation" not in text
    assert "Start" not in text


def test_the_same_letter_is_the_same_file() -> None:
    assert printing.render(letter()) == printing.render(letter())


def test_what_looks_like_the_typesetters_own_words_is_printed_as_it_is() -> None:
    words = '#import "@preview/x:1.0.0": * #read("/etc/passwd") *b* $x$ \\ @a <b> `c` = d'
    text = printed(title=words, body_html=html.clean(f"<p>{words.replace('<b>', '')}</p>"))
    assert flat(words) in text
    assert flat(words.replace("<b>", "")) in text


LONG: dict[str, str] = {
    "one word": "x" * 49_000,
    "one word of joiners": "a\u200d" * 20_000,
    "one line of dots": "…" * 45_000,
    "one line of Thai": "ก" * 45_000,
    "both directions": "\u05d0a" * 20_000,
    "every other ideograph": "".join(chr(0x4E00 + number) for number in range(0, 20_000, 2)),
    "cells": "<table><tr>" + "<td>a" * 5_000,
    "rows": "<table>" + "<tr><td>a" * 3_000,
    "cells that want the whole table": "<table>"
    + "<tr><td colspan=9999 rowspan=9999>a<td rowspan=9999>b" * 400,
    "lists in lists": "<ul><li>a" * 2_500,
    "tables in tables": "<table><tr><td>a" * 1_000,
    "quotes in quotes": "<blockquote>a" * 1_900,
    "bold in bold": "<b>a" * 6_000,
    "headings": "<h2>a</h2>" * 4_900,
    "links": "".join(f"<a href='https://example.com/{number}'>a</a>" for number in range(500)),
    "a long link": f"<a href='https://example.com/{'x' * 40_000}'>a</a>",
}


@pytest.mark.parametrize("name", LONG)
def test_the_longest_and_deepest_letters_are_printed(name: str) -> None:
    body = html.clean(LONG[name])
    assert fonts.unprintable({"body_html": html.plain(body)}) == []
    assert printing.render(letter(body_html=body)).startswith(b"%PDF-")


def test_a_letter_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printing, "LIMITS", replace(printing.LIMITS, seconds=0.001))
    with pytest.raises(printing.PrintingError, match="too long"):
        printing.render(letter())


def test_a_letter_that_takes_too_much_memory_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printing, "LIMITS", replace(printing.LIMITS, memory_mb=60))
    with pytest.raises(printing.PrintingError, match="could not be printed"):
        printing.render(letter())


# --- What cannot be printed


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Welcome 🦄!", "🦄 (U+1F984)"),
        ("a\x07b", "(U+0007)"),
        ("a\ue000b", "(U+E000)"),
        ("a\uffffb", "(U+FFFF)"),
        ("ꯍꯌ", "ꯍ (U+ABCD), ꯌ (U+ABCC)"),
        ("ب\u0e34", "ب (U+0628), \u0e34 (U+0E34)"),  # no font has both, and one stands on the other
        ("a" + "\u0301" * 40, "\u0301 (U+0301)"),
    ],
)
def test_characters_that_would_be_squares_are_named(text: str, named: str) -> None:
    [fault] = fonts.unprintable({"title": text, "body_html": "Fine."})
    assert fault == {"pointer": "/title", "message": f"Cannot be printed: {named}."}


def test_many_of_them_are_named_in_part() -> None:
    [fault] = fonts.unprintable({"title": "".join(chr(0x1F400 + number) for number in range(60))})
    assert fault["message"].endswith("and 40 more.")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a\n\tb\r",
        "e\u0301",
        "می\u200cخواهم",
        "\u202bشلام\u202c",
        "co\u00adoperate",
        "\u05e9\u05b8\u05c1",
        "葛\ufe00",
    ],
)
def test_what_is_not_seen_needs_no_glyph(text: str) -> None:
    assert fonts.unprintable({"title": text, "start_date": None}) == []


# --- Blocks


def test_words_of_a_paragraph_are_joined_by_their_looks() -> None:
    [block] = blocks("<p> a <b>b</b><b> c</b>\n d<br> e </p>")
    assert block["runs"] == [["a ", "", ""], ["b c", "b", ""], [" d\ne", "", ""]]


def test_a_paragraph_runs_as_its_first_letter_does() -> None:
    assert [one["rtl"] for one in blocks("<p>1. שלום</p><p>1. hello שלום</p><p>12</p>")] == [
        True,
        False,
        False,
    ]


def test_cells_have_places_that_never_overlap() -> None:
    [table] = blocks(html.clean(LONG["cells that want the whole table"]))
    taken = [
        (cell["x"] + x, cell["y"] + y)
        for cell in table["items"]
        for x in range(cell["across"])
        for y in range(cell["down"])
    ]
    assert len(taken) == len(set(taken))
    assert max(x for x, _ in taken) < table["columns"]


def test_words_outside_of_items_and_cells_are_kept() -> None:
    body = "<ul>a<li>b</li>c</ul>d<table>e<tr><td>f</td></tr></table>g"
    assert sorted(flat(printed(body_html=html.clean(body))).partition("2031")[2]) == sorted("•abcdefg")


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<table></table>",
        "<table><tr></tr></table>",
        "<ul></ul><dl></dl>",
        "<ul><li></li></ul>",
        "<br>",
        "<li>a",
    ],
)
def test_a_letter_with_nothing_in_it_is_a_preview_all_the_same(body: str) -> None:
    empty = {name: None if name == "start_date" else "" for name in LETTER}
    assert printing.render(letter(**empty | {"body_html": html.clean(body)})).startswith(b"%PDF-")
