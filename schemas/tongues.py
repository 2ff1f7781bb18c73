"""One language that somebody is spoken to in: its texts from the catalogue, its dates and numbers by CLDR."""

import unicodedata
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache, lru_cache
from io import BytesIO
from typing import Any

from babel import Locale, UnknownLocaleError
from babel.dates import format_date, format_time
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal, format_percent
from babel.support import NullTranslations, Translations
from babel.units import format_unit
from markupsafe import Markup

from rules import languages
from rules.words import Said

# Plain English is that of everywhere: 1 March 2026, 14:00.
FORMATS = {"en": "en-GB"}
# Enough numbers to meet every form that a language has.
SAMPLES = (*range(200), 1000, 1_000_000)
Words = dict[str, "str | dict[str, str]"]


@dataclass(frozen=True, eq=False)
class Tongue:
    """A language: its tag as pages name it, its catalogue's, and how it writes."""

    tag: str
    catalogue: str
    locale: Locale
    translations: NullTranslations

    @property
    def dir(self) -> str:
        """The direction of its lines: ltr or rtl."""
        return str(self.locale.text_direction)

    def tell(self, text: str) -> str:
        """Translate what was said, or a text that stands in the catalogue as it is."""
        if not isinstance(text, Said):
            return self.translations.gettext(text) if text else text
        if text.number is None or text.plural is None:
            found = self.translations.gettext(text.message)
        else:
            found = self.translations.ngettext(text.message, text.plural, text.number)
        return found % self.told(text.values) if text.values else found

    def told(self, value: Any) -> Any:
        """Return the same with all that was said in it translated, in lists and objects too."""
        if isinstance(value, Said):
            return self.tell(value)
        if isinstance(value, dict):
            return {name: self.told(one) for name, one in value.items()}
        return [self.told(one) for one in value] if isinstance(value, list) else value

    def apart(self, text: str) -> str:
        """Set what somebody wrote apart within a sentence, where its direction may be another one."""
        meets = self.dir == "rtl" or any(unicodedata.bidirectional(one) in ("R", "AL") for one in text)
        return Markup("<bdi>{}</bdi>").format(text) if meets else text

    def day(self, when: date | str) -> str:
        """Write a day: 1 March 2026."""
        return format_date(_moment(when), "long", self.locale)

    def moment(self, when: datetime | str) -> str:
        """Write a moment: 1 March 2026, 12:00 UTC."""
        at = _moment(when)
        time = format_time(at, "short", locale=self.locale)
        both = str(self.locale.datetime_formats["medium"]).replace("'", "")
        return f"{both.format(time, self.day(at))} UTC"

    def spell(self, seconds: int) -> str:
        """Write a length of time: 1 hour 15 minutes."""
        hours, rest = divmod(seconds, 3600)
        minutes, left = divmod(rest, 60)
        parts = ((hours, "duration-hour"), (minutes, "duration-minute"), (left, "duration-second"))
        return " ".join(
            format_unit(count, unit, "long", locale=self.locale) for count, unit in parts if count
        )

    def number(self, number: Any) -> str:
        """Write a number: 1,234.5."""
        return format_decimal(number, locale=self.locale)

    def percent(self, share: Any) -> str:
        """Write a number of hundredths: 72.5%."""
        return format_percent(Decimal(share) / 100, locale=self.locale, decimal_quantization=False)

    def words(self, prefix: str) -> Words:
        """Return what the scripts whose paths begin so say, by its English; plurals by their names in CLDR."""
        return _words(self.catalogue, prefix)


def of(tag: str | None) -> Tongue:
    """Return the language of a tag that there is a catalogue for; the source's for any other."""
    catalogue = languages.catalogue(tag)
    return _of(tag, catalogue) if tag and catalogue else _of(languages.SOURCE, languages.SOURCE)


@lru_cache(maxsize=256)  # anybody may ask for any region
def _of(tag: str, catalogue: str) -> Tongue:
    for one in (tag, catalogue):
        try:
            return Tongue(
                one, catalogue, Locale.parse(FORMATS.get(one, one), sep="-"), translations(catalogue)
            )
        except (ValueError, UnknownLocaleError):
            continue
    return Tongue(catalogue, catalogue, Locale("en", "GB"), translations(catalogue))


def _moment(when: date | str) -> Any:
    at = datetime.fromisoformat(when) if isinstance(when, str) else when
    return at.astimezone(UTC) if isinstance(at, datetime) and at.tzinfo else at


@cache
def _read(catalogue: str) -> Catalog:
    with (languages.FOLDER / f"{catalogue}.po").open("rb") as file:
        return read_po(file, locale=catalogue.replace("-", "_"), abort_invalid=True)


@cache
def translations(catalogue: str) -> NullTranslations:
    """Return the texts of a catalogue; the source has none but those in the code."""
    if catalogue == languages.SOURCE:
        return NullTranslations()
    compiled = BytesIO()
    write_mo(compiled, _read(catalogue))
    compiled.seek(0)
    return Translations(compiled)


@cache
def _words(catalogue: str, prefix: str) -> Words:
    if catalogue == languages.SOURCE:
        return {}
    read, found = _read(catalogue), translations(catalogue)
    plural_of = Locale.parse(catalogue, sep="-").plural_form
    words: Words = {}
    for message in read:
        if not any(path.startswith(prefix) for path, _ in message.locations):
            continue
        if isinstance(message.id, str):
            words[message.id] = found.gettext(message.id)
        else:
            one, many = message.id
            words[one] = {plural_of(n): found.ngettext(one, many, n) for n in reversed(SAMPLES)}
    return words
