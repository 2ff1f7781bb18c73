"""Markdown as HTML that is safe to put into a page."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.dollarmath.index import math_inline_dollar

# Text, code and formulas only: no images, forms, styles or scripts, whoever wrote the case.
WORDS = {"br", "code", "del", "em", "s", "strong", "sub", "sup"}
FORMULAS = {
    "math", "mfrac", "mi", "mn", "mo", "mover", "mpadded", "mphantom", "mroot", "mrow", "mspace", "msqrt", "mstyle",
    "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover",
}  # fmt: skip
BLOCKS = {
    "a", "blockquote", "dd", "dl", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "table",
    "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
ATTRIBUTES = {
    "a": {"href", "title"},
    "ol": {"start"},
    "math": {"display"},
    "mo": {"stretchy", "fence"},
    "mtable": {"columnalign"},
}
# What is longer, or no formula, is shown as it was written; and so is everything where more of them are written.
LONGEST_FORMULA, MOST_FORMULAS = 500, 200


def _formula(latex: str, how: Mapping[str, Any]) -> str:
    from latex2mathml.converter import convert  # noqa: PLC0415 - slow to load, and few texts have a formula

    if len(latex) <= LONGEST_FORMULA:
        try:
            return str(convert(latex, display="block" if how["display_mode"] else "inline"))
        except Exception:  # noqa: S110 - it knows no common one, and anything may have been written
            pass
    return f"<code>{escape(latex)}</code>"


def _described(renderer: RendererHTML, tokens: Sequence[Token], number: int, options: Any, env: Any) -> str:
    """Put the words for an image in its place: the page takes nothing from elsewhere."""
    words = renderer.renderInlineAsText(tokens[number].children, options, env)
    return f"<em>{escape(words)}</em>" if words else ""


_begins = math_inline_dollar(allow_space=False, allow_digits=False, allow_double=False)


def _begins_outside_code(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - as rules are called
    """Tell a formula from a price or a variable that is followed by code: there is no code within a formula."""
    end = state.src.find("$", state.pos + 1)
    return "`" not in state.src[state.pos : end] and bool(_begins(state, silent))


def _without_formulas() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    reader.add_render_rule("image", _described)
    return reader


_plain, _markdown = _without_formulas(), _without_formulas()
dollarmath_plugin(_markdown, renderer=_formula)
_markdown.inline.ruler.at("math_inline", _begins_outside_code)


def _reader(text: str) -> MarkdownIt:
    return _markdown if text.count("$") <= 2 * MOST_FORMULAS else _plain


@lru_cache(maxsize=512)  # the same case is shown to many candidates
def to_html(text: str) -> str:
    """Render Markdown and sanitise what comes out."""
    return nh3.clean(
        _reader(text).render(text),
        tags=WORDS | FORMULAS | BLOCKS,
        attributes=ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


@lru_cache(maxsize=2048)
def to_line(text: str) -> str:
    """Render the Markdown of one line, such as an option or a title: words, code and formulas without links."""
    return nh3.clean(_reader(text).renderInline(text), tags=WORDS | FORMULAS, attributes=ATTRIBUTES)
