"""How a language is found, and what it writes of dates, numbers and sentences."""

import json
from datetime import UTC, date, datetime

import pytest
from markupsafe import Markup

from rules import languages
from rules.words import say, say_many, together
from schemas import tongues

MOMENT = datetime(2031, 3, 1, 14, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (["de"], "de"),
        (["DE-at"], "DE-at"),
        (["de-AT-1996"], "de-AT-1996"),
        ([None, "", "fr"], "fr"),
        (["tlh", "es"], "es"),
        (["*", "en-GB", "de"], "en-GB"),
        (["x"], "en"),
        (["de" + "-abcdefgh" * 9], "en"),
        (["../de"], "en"),
        (["de\n"], "en"),
        ([], "en"),
    ],
)
def test_the_first_language_that_there_is_is_chosen(wanted: list[str | None], found: str) -> None:
    assert languages.choose(wanted) == found


@pytest.mark.parametrize(
    ("tag", "spoken", "direction", "day", "moment", "number"),
    [
        ("en", "en", "ltr", "1 March 2031", "1 March 2031, 14:05 UTC", "1,234.5"),
        ("en-US", "en-US", "ltr", "March 1, 2031", "March 1, 2031, 2:05\u202fPM UTC", "1,234.5"),
        ("de", "de", "ltr", "1. März 2031", "1. März 2031, 14:05 UTC", "1.234,5"),
        ("de-CH", "de-CH", "ltr", "1. März 2031", "1. März 2031, 14:05 UTC", "1’234.5"),
        ("fr", "fr", "ltr", "1 mars 2031", "1 mars 2031, 14:05 UTC", "1\u202f234,5"),
        ("ar", "ar", "rtl", "1 مارس 2031", "1 مارس 2031، 2:05 م UTC", "1,234.5"),
        ("de-x-nobody", "de", "ltr", "1. März 2031", "1. März 2031, 14:05 UTC", "1.234,5"),
        ("tlh", "en", "ltr", "1 March 2031", "1 March 2031, 14:05 UTC", "1,234.5"),
    ],
)
def test_dates_and_numbers_are_written_as_a_region_does(
    tag: str, spoken: str, direction: str, day: str, moment: str, number: str
) -> None:
    tongue = tongues.of(tag)
    assert (tongue.tag, tongue.dir) == (spoken, direction)
    assert tongue.day(date(2031, 3, 1)) == tongue.day("2031-03-01T14:05:00.000Z") == day
    assert tongue.moment(MOMENT) == tongue.moment("2031-03-01T16:05:00+02:00") == moment
    assert tongue.number(1234.5) == number


def test_a_length_of_time_is_spelt() -> None:
    assert tongues.of("en").spell(4500) == "1 hour 15 minutes"
    assert tongues.of("de").spell(7201) == "2 Stunden 1 Sekunde"


@pytest.mark.parametrize(("share", "written"), [("71.50", "71.5%"), (25, "25%"), ("100.00", "100%")])
def test_a_percentage_has_the_digits_that_it_needs(share: str | int, written: str) -> None:
    assert tongues.of("en").percent(share) == written


def test_what_is_said_is_english_until_it_is_told() -> None:
    said = say("Must have at most %(count)s characters.", count=3)
    assert (said, json.dumps(said)) == (
        "Must have at most 3 characters.",
        '"Must have at most 3 characters."',
    )
    assert tongues.of("de").tell(said) == "Darf höchstens 3 Zeichen haben."
    assert tongues.of("tlh").tell(said) == said


def test_what_is_said_within_what_is_said_is_told_too() -> None:
    inner = say("what is said in the chat")
    said = together(say("I agree: %(text)s", text=inner), say("Must be a number."))
    assert said == "I agree: what is said in the chat Must be a number."
    assert tongues.of("de").tell(said) == "Ich stimme zu: was im Chat gesagt wird Muss eine Zahl sein."
    body = {"fields": [{"message": inner, "own": "The invitation has expired."}], "pair": (inner,)}
    told = tongues.of("de").told(body)
    assert told["fields"] == [{"message": "was im Chat gesagt wird", "own": "The invitation has expired."}]
    assert told["pair"] == (inner,)


def test_a_value_is_never_read_as_a_placeholder() -> None:
    said = say("I agree: %(text)s", text="100 %(count)s %")
    assert tongues.of("de").tell(said) == "Ich stimme zu: 100 %(count)s %"


@pytest.mark.parametrize(("days", "words"), [(1, "1 Tag"), (2, "2 Tage")])
def test_a_number_of_things_has_its_form(days: int, words: str) -> None:
    kept = ("It is kept for %(num)s day and then deleted.", "It is kept for %(num)s days and then deleted.")
    assert tongues.of("de").tell(say_many(*kept, days)) == f"Sie wird {words} aufbewahrt und dann gelöscht."


def test_arabic_has_its_six_forms_for_scripts() -> None:
    words = tongues.of("ar").words("static/take-fields.js")
    forms = words["%(num)s word"]
    assert isinstance(forms, dict)
    assert set(forms) == {"zero", "one", "two", "few", "many", "other"}
    assert len(set(forms.values())) > 3


def test_scripts_get_their_own_words_and_english_ones_none() -> None:
    assert tongues.of("en").words("static/") == {}
    words = tongues.of("de").words(("static/take", "static/careers"))
    assert words["Saved"] == "Gespeichert"
    assert "Your offer" not in words
    assert "Send application" not in tongues.of("de").words("static/careers")


@pytest.mark.parametrize(
    ("tag", "text", "html"),
    [
        ("en", "Ada <b>", "Ada <b>"),
        ("en", "مريم", Markup("<bdi>مريم</bdi>")),
        ("ar", "Ada <b>", Markup("<bdi>Ada &lt;b&gt;</bdi>")),
    ],
)
def test_what_somebody_wrote_is_set_apart_where_directions_meet(tag: str, text: str, html: str) -> None:
    found = tongues.of(tag).apart(text)
    assert (found, isinstance(found, Markup)) == (html, isinstance(html, Markup))
