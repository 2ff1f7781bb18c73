"""Exact numbers: read, rounded and written."""

import re
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction

CENT = Decimal("0.01")
PLACES = 9  # after the point, of what a request may hold
_WRITTEN = re.compile(rf"-?\d{{1,18}}(\.\d{{1,{PLACES}}})?")


def read(given: object) -> Decimal | None:
    """Read a finite number or decimal string; None for anything else, booleans included."""
    if isinstance(given, bool) or not isinstance(given, int | float | str | Decimal):
        return None
    try:
        number = Decimal(str(given).strip())
    except (InvalidOperation, ValueError):  # ValueError: an integer too long to be written out
        return None
    return number if number.is_finite() else None


def parse(given: str | float) -> Decimal:
    """Read a number as requests have it; a float is rounded to 9 fraction digits. Raises ValueError."""
    if isinstance(given, str):
        if not _WRITTEN.fullmatch(given):
            raise ValueError(given)
        return Decimal(given)
    number = Decimal(str(given))
    rounded = round(number, PLACES)
    return number if number == rounded else rounded


def cents(value: Decimal | Fraction) -> Decimal:
    """Round to the 2 digits in which scores are shown."""
    if isinstance(value, Fraction):
        value = Decimal(value.numerator) / Decimal(value.denominator)
    return value.quantize(CENT, ROUND_HALF_UP)


def written(value: Decimal, places: int | None = 2) -> str:
    """Write a number with so many digits after the point; None: with those that it has."""
    return f"{value:f}" if places is None else f"{value:.{places}f}"


def plain(value: Decimal) -> str:
    """Write a number without an exponent and without zeros that say nothing: 1E+3 is 1000, and 5.50 is 5.5."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
