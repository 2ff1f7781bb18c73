"""Colours that can be read, and pictures that are pictures."""

import pytest

from rules import brand
from rules.errors import Invalid


def fault(given: Invalid) -> dict[str, str]:
    [one] = given.details["fields"]
    return dict(one)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("#ffffff", "#000000", 21.0), ("#777777", "#ffffff", 4.48), ("#0000FF", "#ffffff", 8.59)],
)
def test_contrast_is_that_of_wcag(one: str, other: str, expected: float) -> None:
    assert brand.contrast(one, other) == brand.contrast(other, one) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("colour", ["#1f5eff", "#c2410c", "#777777", "#1d8a4a", None])
def test_a_colour_that_stands_out_on_light_and_dark_is_taken(colour: str | None) -> None:
    brand.check_colour(colour)
    if colour:
        assert brand.contrast(colour, brand.ink(colour)) >= 4.5


@pytest.mark.parametrize(
    ("colour", "words"),
    [("#ffff00", "1.07:1 with white"), ("#0b2545", "1.36:1 with black"), ("#ffffff", "1:1 with white")],
)
def test_a_colour_that_is_lost_is_refused_with_its_contrast(colour: str, words: str) -> None:
    with pytest.raises(Invalid) as refused:
        brand.check_colour(colour)
    assert fault(refused.value)["pointer"] == "/colour"
    assert words in fault(refused.value)["message"]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(13), "image/png"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "image/jpeg"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"\x89PNG\r\n\x1a\n", None),
        (b"RIFF\x00\x00\x00\x00WAVEfmt ", None),
        (b"GIF89a", None),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", None),
        (b"<!doctype html>", None),
    ],
)
def test_a_picture_is_told_by_its_content(content: bytes, kind: str | None) -> None:
    assert brand.picture(content) == kind


def test_a_logo_has_a_size() -> None:
    png = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
    assert brand.check_logo(png.ljust(512 * 1024)) == "image/png"
    for content in (png.ljust(512 * 1024 + 1), b"", b"GIF89a"):
        with pytest.raises(Invalid) as refused:
            brand.check_logo(content)
        assert fault(refused.value)["pointer"] == "/logo"
