"""Addresses: the short way answers what the library does."""

from contextlib import suppress

import email_validator
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import emails

# Of what makes addresses usual, and of what makes them not.
PART = st.from_regex("[az09]([az09-]?[az09])?", fullmatch=True) | st.text("az09_+-AÜ'", max_size=6)
PARTS = st.lists(PART, min_size=1, max_size=3).map(".".join)
TLDS = st.just("com") | st.sampled_from(["info", "c", "c0m", "COM", "xn--p1ai", "рф", ""])
ADDRESSES = st.builds("{}@{}.{}".format, PARTS, PARTS, TLDS)


def by_library(text: str) -> str | None:
    with suppress(ValueError):
        return email_validator.validate_email(text.strip(), check_deliverability=False).normalized
    return None


@pytest.mark.parametrize(
    "text",
    [
        "ada@example.com",
        "Ada@example.com",
        "ada@Example.COM",
        "Postmaster@example.com",
        "ada@bücher.example",
        "ada@xn--bcher-kva.example",
        "ada@b--c.example",
        "ada@ab--c.example",
        "ada@-example.com",
        "ada@example-.com",
        "ada@example",
        "ada@example.c",
        "ada@example.1",
        "ada@127.0.0.1",
        "ada..lovelace@example.com",
        ".ada@example.com",
        "ada.@example.com",
        "ada lovelace@example.com",
        '"ada"@example.com',
        "ada@example.com\n",
        " ada@example.com ",
        "ada@exam\nple.com",
        f"{'a' * 65}@example.com",
        f"ada@{'a' * 64}.com",
        f"ada@{'.'.join(['a' * 60] * 5)}.com",
        "@example.com",
        "ada@",
        "",
    ],
)
def test_an_address_at_an_edge_is_read_as_the_library_reads_it(text: str) -> None:
    assert emails.normal_or_none(text) == by_library(text)


@given(ADDRESSES)
def test_any_address_is_read_as_the_library_reads_it(text: str) -> None:
    assert emails.normal_or_none(text) == by_library(text)
