"""How to reach a person, as a CV says it: addresses, telephone numbers, links."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

import phonenumbers

MOST = 10  # of each that are kept

_EMAIL = re.compile(
    r"(?<![\w.+-])[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:\w(?:[\w-]{0,61}\w)?\.){1,8}[^\W\d_]{2,63}(?![\w-])"
)
_LINK = re.compile(
    r"(?:https?://|www\.)[^\s<>\"'|]+"
    r"|(?<![\w.-])(?:[\w-]{1,63}\.){0,3}(?:linkedin\.com|github\.com|gitlab\.com|bitbucket\.org|stackoverflow\.com|behance\.net|medium\.com"
    r"|dribbble\.com|kaggle\.com|twitter\.com|x\.com|t\.me|xing\.com|hh\.ru|habr\.com|about\.me)/[^\s<>\"'|,;]+"
    r"|(?<![@\w.])[\w-]+\.github\.io\b(?:/[^\s<>\"'|,;]*)?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w/.-])\(?\+?\d[\d ()./\u00a0-]{6,}\d(?![\w/])")
_LABEL = re.compile(
    r"(?:\b(?:t|m|p|tel|telefon|telephone|téléphone|tél|teléfono|telefono|telefone|phone|mobile|mobil|móvil|cell|cellulare"
    r"|portable|handy|mob|fon|тел|телефон|моб|мобильный|τηλ|τηλέφωνο|κινητό)\b\.?|電話|电话|手机|携帯|전화|휴대폰|טלפון|נייד|هاتف|جوال)",
    re.IGNORECASE,
)
# "00" in front of a country's number is "+".
_ZEROS = re.compile(r"(?<![\d+])00(?=[1-9][\d ()/-]{8,})")

# Where a number without a country may be at home: by the ending of addresses, by names, by script.
_ENDINGS = {
    "uk": "GB",
    "com": "",
    "org": "",
    "net": "",
    "io": "",
    "dev": "",
    "me": "",
    "eu": "",
    "ai": "",
    "co": "",
}
_COUNTRIES = {
    "GB": r"united kingdom|\buk\b|england|scotland|london|manchester|edinburgh",
    "US": r"united states|\busa?\b|, (?:CA|NY|TX|WA|MA|IL|CO|FL|GA|NC|PA|OH|OR|VA|NJ)\b|new york|san francisco",
    "DE": r"germany|deutschland|berlin|münchen|munich|hamburg|frankfurt|köln|stuttgart",
    "AT": r"austria|österreich|wien|vienna",
    "CH": r"switzerland|schweiz|suisse|zürich|zurich|genève|geneva",
    "FR": r"france|paris|lyon|toulouse|marseille",
    "ES": r"spain|españa|madrid|barcelona|valencia|sevilla",
    "IT": r"italy|italia|milano|roma\b|torino|milan\b|rome\b",
    "NL": r"netherlands|nederland|amsterdam|rotterdam|utrecht",
    "PL": r"poland|polska|warszawa|kraków|warsaw",
    "PT": r"portugal|lisboa|lisbon|\bporto\b",
    "BR": r"brazil|brasil|são paulo|rio de janeiro",
    "IN": r"\bindia\b|bangalore|bengaluru|mumbai|delhi|hyderabad|pune\b",
    "CA": r"canada|toronto|montréal|montreal|vancouver",
    "AU": r"australia|sydney|melbourne",
    "IE": r"ireland|dublin",
    "IL": r"israel|tel aviv|ישראל|תל אביב",
    "AE": r"united arab emirates|\buae\b|dubai|الإمارات|دبي",
    "EG": r"egypt|مصر|القاهرة",
    "TR": r"turkey|türkiye|istanbul|ankara",
    "UA": r"ukraine|україна|київ|kyiv",
    "MX": r"mexico|méxico",
    "JP": r"japan|日本|東京|大阪",
    "CN": r"\bchina\b|中国|北京|上海|深圳|广州",
    "TW": r"taiwan|台灣|台北",
    "KR": r"korea|서울|대한민국",
    "GR": r"greece|ελλάδα|αθήνα|athens|θεσσαλονίκη",
    "RU": r"russia|россия|москва|санкт-петербург",
}
_SCRIPTS = {
    "CYRILLIC": "RU",
    "GREEK": "GR",
    "HEBREW": "IL",
    "HIRAGANA": "JP",
    "KATAKANA": "JP",
    "HANGUL": "KR",
    "CJK": "CN",
}


def emails(text: str) -> list[str]:
    """List the addresses in a text, in small letters."""
    return list(dict.fromkeys(found.strip(".'`-").lower() for found in _EMAIL.findall(text)))[:MOST]


def links(text: str, targets: Iterable[str] = ()) -> list[str]:
    """List the web addresses in a text, and those its links lead to."""
    written = _LINK.findall(_EMAIL.sub(" ", text))
    whole = (_whole(found) for found in [*written, *targets])
    unique = {re.sub(r"^https?://(?:www\.)?", "", link).rstrip("/").lower(): link for link in whole if link}
    return list(unique.values())[:MOST]


def phones(lines: Sequence[str], near: Sequence[str]) -> list[str]:
    """List telephone numbers as E.164; one that fits no country's plan stays as written.

    Numbers with a country are found anywhere, others in `near`, the lines about the person, and after a label.
    """
    whole = "\n".join(lines)
    found = _matched(_ZEROS.sub("+", whole), None)
    local = "\n".join([*near, *(line for line in lines if _LABEL.search(line))])
    for region in _regions(whole):
        if found:
            break
        found = _matched(local, region)
    if not found:
        labelled = (_NUMBER.search(line, label.end()) for line in lines if (label := _LABEL.search(line)))
        found = [number[0].strip() for number in labelled if number]
    return list(dict.fromkeys(found))[:MOST]


def _matched(text: str, region: str | None) -> list[str]:
    # A number that names its country is taken at its word; one that does not has to be in use there.
    leniency = phonenumbers.Leniency.VALID if region else phonenumbers.Leniency.POSSIBLE
    return [
        phonenumbers.format_number(match.number, phonenumbers.PhoneNumberFormat.E164)
        for match in phonenumbers.PhoneNumberMatcher(text, region, leniency, max_tries=200)
    ]


def _regions(text: str) -> list[str]:
    """List the countries a number may belong to, the likeliest first."""
    endings = [email.rsplit(".", 1)[-1] for email in emails(text)]
    named = [_ENDINGS.get(ending, ending.upper()) for ending in endings]
    named += [region for region, names in _COUNTRIES.items() if re.search(names, text, re.IGNORECASE)]
    counts: dict[str, int] = {}
    for char in text[:5000]:
        if char.isalpha() and not char.isascii():
            script = unicodedata.name(char, "?").split()[0]
            counts[script] = counts.get(script, 0) + 1
    # Kana tell Japanese from Chinese however few they are.
    ordered = sorted(counts, key=lambda script: (script not in {"HIRAGANA", "KATAKANA"}, -counts[script]))
    named += [_SCRIPTS[script] for script in ordered if script in _SCRIPTS]
    return [code for code in dict.fromkeys([*named, "US", "GB"]) if code in phonenumbers.SUPPORTED_REGIONS]


def _whole(found: str) -> str | None:
    link = found.strip().rstrip(".,;:)]}>")
    if not re.match(r"https?://", link, re.IGNORECASE):
        if ":" in link.split("/")[0]:
            return None  # mailto:, tel:, javascript:
        link = f"https://{link}"
    try:
        parts = urlsplit(link)
    except ValueError:
        return None
    return link if parts.hostname and "." in parts.hostname and len(link) <= 500 else None
