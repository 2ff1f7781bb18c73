"""Every text that people read stands in the catalogues, and every catalogue says all of them."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from babel import Locale
from babel.messages.catalog import Catalog, Message
from babel.messages.jslexer import tokenize
from babel.messages.pofile import read_po
from jinja2 import Environment, nodes

from app.instance.settings import ROOT
from rules import languages
from tests import catalogues

# What developers read is in English.
OF_DEVELOPERS = {"reference.html", "document.html"}
TEMPLATES = [
    one
    for one in sorted((ROOT / "templates").rglob("*"))
    if one.suffix in (".html", ".txt") and one.name not in OF_DEVELOPERS
]
BUILT = {"editor.js", "play.js", "record.js", "room.js"}
SCRIPTS = [
    one
    for folder in (ROOT / "static", ROOT / "static" / "src")
    for one in sorted(folder.glob("*.js"))
    if not one.name.startswith(("built-", "reference"))
    and not (folder.name == "static" and one.name in BUILT)
]
SAID = ("label", "placeholder", "alt", "title", "aria-label", "aria-valuetext", "content")  # of attributes
OF_SCRIPTS = (
    "data-bad",
    "data-good",
    "data-cannot",
    "data-again",
    "data-change",
    "data-sending",
    "data-sent",
)
# Names are the same in every language.
NAMES = {"Bash", "Go", "Java", "JavaScript", "Python", "SQL", "TypeScript", "MiB", "UTC"}
TONGUES = [tag for tag in languages.CATALOGUES if tag != languages.SOURCE]


@pytest.fixture(scope="module")
def texts() -> Catalog:
    return catalogues.gathered()


def read(tag: str) -> Catalog:
    with (languages.FOLDER / f"{tag}.po").open("rb") as file:
        return read_po(file, locale=Locale.parse(tag, sep="-"))


def forms(text: str | tuple[str, ...]) -> tuple[str, ...]:
    return text if isinstance(text, tuple) else (text,)


def messages(catalogue: Catalog) -> list[Message]:
    return [one for one in catalogue if one.id]


# --- The catalogues


@pytest.mark.parametrize("tag", TONGUES)
def test_a_catalogue_has_every_text_and_no_other(tag: str, texts: Catalog) -> None:
    there = (languages.FOLDER / f"{tag}.po").read_bytes()
    # Else: ./hiring test -e catalogues
    assert catalogues.updated(tag, there, texts) == there


@pytest.mark.parametrize("tag", TONGUES)
def test_every_text_is_translated_in_all_its_forms(tag: str) -> None:
    catalogue = read(tag)
    assert len(messages(catalogue)) > 700
    for one in messages(catalogue):
        assert not one.fuzzy, one.id
        assert all(said.strip() for said in forms(one.string)), one.id
        assert len(forms(one.string)) == (catalogue.num_plurals if isinstance(one.id, tuple) else 1), one.id


@pytest.mark.parametrize("tag", TONGUES)
def test_a_translation_has_the_placeholders_and_the_marks_of_its_text(tag: str) -> None:
    for one in messages(read(tag)):
        wanted = [parts(said) for said in forms(one.id)]
        for said in forms(one.string):
            found = parts(said)
            # A form of one or two may say the number in words.
            spoken = [sorted({*each, "%(num)s"} - {"%(num)s"}) for each in wanted] if len(wanted) > 1 else []
            assert sorted(found) in [sorted(each) for each in wanted] + spoken, (one.id, said)


def parts(text: str) -> list[str]:
    return re.findall(r"%\(\w+\)s|%%|<[^>]+>|\$", text)


def test_a_file_is_all_that_a_language_needs() -> None:
    assert set(languages.CATALOGUES) == {"en"} | {one.stem for one in languages.FOLDER.glob("*.po")}
    assert {"ar", "de", "en", "es", "fr"} <= set(languages.CATALOGUES)


# --- Templates


class Shown(HTMLParser):
    """What a reader sees of HTML, or hears."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside.append(tag)
        for name, value in attrs:
            if value and (name in SAID or name in OF_SCRIPTS) and not (tag == "meta" and "=" in value):
                self.texts.append(value)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.inside:
            while self.inside.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.inside):
            self.texts.append(data)


OF_MACHINES = {"noindex", "website", "light dark"}


def shown(html: str) -> list[str]:
    """The texts of a page that have letters in them."""
    parser = Shown()
    parser.feed(html)
    found = (" ".join(one.split()) for one in parser.texts)
    return [one for one in found if re.search(r"[^\W\d_]", one) and one not in OF_MACHINES | NAMES]


def literals(node: nodes.Node) -> Iterator[str]:
    """The words that a template writes from its expressions without asking for their translation."""
    if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name in SAYS:
        return
    if isinstance(node, nodes.Const) and isinstance(node.value, str):
        yield node.value
    for child in node.iter_child_nodes():
        yield from literals(child)


SAYS = ("_", "gettext", "ngettext")
SENTENCE = re.compile(r"\b[A-Z][a-z]+\b|[a-z]{2,} [a-z]{2,}")
# What a judgement keeps is the same whoever writes it.
KEPT = {"Technical skill", "Problem solving", "Communication"}


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_says_nothing_outside_the_catalogues(path: Path) -> None:
    environment = Environment(extensions=["jinja2.ext.i18n"])
    source = path.read_text()
    tree = environment.parse(source)
    assert shown(expressed(source)) == [], path.name
    assert {one for one in literals(tree) if SENTENCE.search(one)} - NAMES - KEPT == set(), path.name


def expressed(source: str) -> str:
    """A template's own HTML: what it computes, decides and translates is left out."""
    for unshown in (
        r"\{% trans.*?%\}.*?\{% endtrans %\}",
        r"\{% block body_class %\}.*?\{% endblock %\}",
        r"\{% macro about.*?\{%- endmacro %\}",  # attributes alone
        r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}",
    ):
        source = re.sub(unshown, "", source, flags=re.DOTALL)
    return source


# --- Scripts

CALLED = re.compile(r'(?<![\w.])(?:_|ngettext)\(\s*"((?:[^"\\]|\\.)*)"')
WORDS = re.compile(r"[A-Z][a-z’']+[ .!?…]|[A-Za-z’']{2,} [a-z’']{2,}")
ALONE = re.compile(r"[A-Z][a-z]+…?")
KEYS = {"Enter", "Escape", "Files", "Shift", "Tab"}
# What no person is shown: markup, styles, what is written of another language than people's.
UNSHOWN = re.compile(r"[<>{};=]|^use |[-:]\S|\.\w+ |^case |\bselect\b")


def said_plainly(source: str) -> Iterator[str]:
    """The words of a script's literals that it does not ask the translation of."""
    tokens = list(tokenize(source, jsx=False))
    called: list[bool] = []
    for number, token in enumerate(tokens):
        before = tokens[number - 1].value if number else ""
        if token.type == "operator" and token.value == "(":
            called.append(before in ("_", "ngettext", "Error"))
        elif token.type == "operator" and token.value == ")" and called:
            called.pop()
        elif token.type in ("string", "template_string") and not (called and called[-1]):
            text = re.sub(r"\$\{.*\}", "", token.value[1:-1])
            after = [one.value for one in tokens[number + 1 : number + 3]]
            is_said = WORDS.search(text) or (ALONE.fullmatch(text) and text not in KEYS | NAMES)
            if is_said and not UNSHOWN.search(text) and after != [",", "_"]:
                yield text


CLASSES = re.compile(r"[a-z]+( [a-z-]+)+")  # names of classes, and lists of ids and of events


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_says_nothing_outside_the_catalogues(path: Path, texts: Catalog) -> None:
    source = path.read_text()
    found = [one for one in said_plainly(source) if not CLASSES.fullmatch(one)]
    assert found == []
    known = {said for one in messages(texts) for said in forms(one.id)}
    # What Babel does not find within a literal of its own is written outside of it.
    assert [one for one in CALLED.findall(source) if one.replace('\\"', '"') not in known] == []


# --- Refusals that people are shown

OF_PEOPLE = ("answers", "applications", "consent", "members", "rooms", "sessions")
# What programs alone are refused with.
OF_CALLERS = {
    "must be Base64",
    "Every seat of the plan is taken.",
    "Needs `privacy_html` or `privacy_url`: the notice that is agreed to.",
    "The candidate has been at work for longer than that already.",
    "The candidate was erased; nothing is kept of them any more.",
}


@pytest.mark.parametrize("name", OF_PEOPLE)
def test_what_a_person_is_refused_with_is_said(name: str) -> None:
    source = (ROOT / "rules" / f"{name}.py").read_text()
    raised = re.findall(
        r'(?:_Fault|LimitReached|NotFound|Invalid(?:\.at)?)\(\s*(?:"/\w*",\s*)?f?"([^/"][^"]*)"', source
    )
    assert [one for one in raised if one not in OF_CALLERS] == []
