"""Markdown of cases as HTML: formulas and words for images, and nothing that could do harm."""

from html.parser import HTMLParser

import pytest

from schemas.markdown import BLOCKS, FORMULAS, WORDS, to_html, to_line


class Seen(HTMLParser):
    """What of tags and attributes a browser finds."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_a_formula_becomes_mathml() -> None:
    shown = to_line(r"Is $\frac{1}{2} < x^2$ right?")
    assert shown.startswith('Is <math display="inline"><mrow><mfrac>')
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in shown
    assert '<math display="block">' in to_html("As follows:\n\n$$\n\\sum_{i=1}^n i\n$$\n")


@pytest.mark.parametrize(
    "text", ["costs $5 and $6", "$PATH and $HOME", "$6, `$HOME`", "it costs $ 5 $", "\\$x\\$"]
)
def test_prices_and_variables_are_no_formulas(text: str) -> None:
    assert "<math" not in to_html(text)


@pytest.mark.parametrize("latex", ["\\frac", "{" * 400, "x" * 501, "\\begin{matrix}"])
def test_what_is_no_formula_is_shown_as_it_was_written(latex: str) -> None:
    assert to_line(f"${latex}$") == f"<code>{latex}</code>"


def test_where_formulas_are_too_many_all_are_shown_as_they_were_written() -> None:
    many = " ".join(["$x$"] * 200)
    assert to_html(many).count("<math") == 200
    assert "<math" not in to_html(f"{many} $y$")


def test_an_image_is_shown_by_its_description_and_not_loaded() -> None:
    assert (
        to_html("![A chart of `sales`](https://x.example/y.png)").strip()
        == "<p><em>A chart of sales</em></p>"
    )
    assert to_html("![](https://x.example/y.png)").strip() == "<p></p>"


@pytest.mark.parametrize(
    "inside",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<mglyph><style><!--</style><img title='--><img src=1 onerror=alert(1)>'>",
        "</mtext></math><img src=x onerror=alert(1)>",
        "<annotation-xml encoding='text/html'><img src=x onerror=alert(1)></annotation-xml>",
        "<svg><style><img src=x onerror=alert(1)></style></svg>",
    ],
)
@pytest.mark.parametrize("around", ["${}$", "$\\text{{{}}}$", "$$\n\\text{{{}}}\n$$", "{}", "![{}](x)"])
def test_nothing_that_could_do_harm_comes_through(around: str, inside: str) -> None:
    for shown in (to_html(around.format(inside)), to_line(around.format(inside))):
        seen = Seen()
        seen.feed(shown)
        assert seen.tags <= WORDS | FORMULAS | BLOCKS
        assert seen.attributes <= {"display", "stretchy", "fence", "columnalign"}


def test_one_line_has_no_links_and_no_blocks() -> None:
    assert (
        to_line("# [`ETag`](https://x.example) **or** *not*")
        == "# <code>ETag</code> <strong>or</strong> <em>not</em>"
    )
