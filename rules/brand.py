"""How an organisation may look: colours that can be read, pictures that are pictures."""

from collections.abc import Mapping

from rules.errors import Invalid

LEAST_CONTRAST = 3.0  # of something that is no text to its ground (WCAG 1.4.11)
LIGHT, DARK = "#ffffff", "#000000"

LARGEST_LOGO = 512 * 1024
LONGEST_HTML = 20_000


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours written as #rrggbb, from 1 to 21 (WCAG 2)."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ink(colour: str) -> str:
    """Return the colour of text that is the more legible on a ground: white or black."""
    return max((LIGHT, DARK), key=lambda text: contrast(colour, text))


def check_colour(colour: str | None) -> None:
    """Refuse a colour that is lost on light pages or on dark ones, and say how far it stands out."""
    if colour is None:
        return
    for ground, name in ((LIGHT, "white"), (DARK, "black")):
        found = contrast(colour, ground)
        if found < LEAST_CONTRAST:
            raise Invalid.at(
                "/colour",
                f"Has a contrast of {int(found * 100) / 100:g}:1 with {name}; {LEAST_CONTRAST:g}:1 is needed with both"
                " white and black.",
            )


def check_html(texts: Mapping[str, str]) -> None:
    """Refuse HTML that is too long once it is safe to show: escapes and what is said of links make it longer."""
    faults = [
        {"pointer": f"/{name}", "message": f"Has more than {LONGEST_HTML} characters once it is made safe."}
        for name, text in texts.items()
        if len(text) > LONGEST_HTML
    ]
    if faults:
        raise Invalid(fields=faults)


def picture(content: bytes) -> str | None:
    """Say by its content of which media type a picture is; None for anything else, whatever its name."""
    if content.startswith(b"\x89PNG\r\n\x1a\n") and content[12:16] == b"IHDR":
        return "image/png"
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "image/webp"
    return None


def check_logo(content: bytes) -> str:
    """Return a logo's media type, or refuse what is none or too large."""
    if not content:
        raise Invalid.at("/logo", "A picture is required, as a part of a multipart body.")
    if len(content) > LARGEST_LOGO:
        raise Invalid.at("/logo", f"Must have at most {LARGEST_LOGO // 1024} KiB.")
    found = picture(content)
    if found is None:
        raise Invalid.at("/logo", "Must be a PNG, JPEG or WebP picture.")
    return found
