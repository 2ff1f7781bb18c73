"""Markdown as HTML that is safe to put into a page."""

from functools import lru_cache

import nh3
from markdown_it import MarkdownIt

# Text and code only: no images, forms, styles or scripts, whoever wrote the case.
TAGS = {
    "a", "blockquote", "br", "code", "dd", "del", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li",
    "ol", "p", "pre", "s", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}

_markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


@lru_cache(maxsize=512)  # the same case is shown to many candidates
def to_html(text: str) -> str:
    """Render Markdown and sanitise what comes out."""
    return nh3.clean(
        _markdown.render(text),
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )
