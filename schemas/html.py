"""HTML that somebody sent, made safe to show."""

import re
from html import unescape

import nh3

TAGS = {
    "a", "abbr", "b", "blockquote", "br", "code", "dd", "del", "dl", "dt", "em", "h2", "h3", "h4", "h5",
    "h6", "hr", "i", "ins", "kbd", "li", "ol", "p", "pre", "q", "s", "small", "span", "strong", "sub",
    "sup", "table", "tbody", "td", "th", "thead", "tr", "u", "ul",
}  # fmt: skip
ATTRIBUTES = {
    "a": {"href", "title"},
    "abbr": {"title"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
}
SCHEMES = {"https", "http", "mailto", "tel"}


def clean(html: str) -> str:
    """Take out of HTML whatever could harm its reader: scripts, styles, forms, frames, images from elsewhere."""
    return nh3.clean(
        html, tags=TAGS, attributes=ATTRIBUTES, url_schemes=SCHEMES, link_rel="noopener noreferrer nofollow"
    )


def plain(html: str) -> str:
    """Return the text of HTML, a line for each block."""
    spaced = re.sub(r"(?i)<(?:/p|/li|/h\d|br|/tr|/dt|/dd)\b[^>]*>", "\n", html)
    return unescape(nh3.clean(spaced, tags=set())).strip()
