"""The area's pages of cases: one of each type is made there, by whoever may, in the languages that run here."""

import re
from html import unescape
from typing import Any

import pytest

from gateways import sandbox
from gateways.languages import LANGUAGES
from rules.roles import ROLES
from schemas import area_cases, document
from tests.api import Tenant
from tests.handlers.test_area_pages import EVIL, Person
from tests.operations import states

CASES, NEW = "/area/cases/", "/area/cases/new/"
COMMON = {"title": "Caches", "question": "Which?", "difficulty": "hard", "points": "7", "tags": "http, web"}
FORMS: dict[str, dict[str, str]] = {
    "mcq": {"option_0_text": "`ETag`", "option_0_correct": "true", "option_1_text": "`Age`"},
    "numeric": {"answer_number": "42.50", "tolerance": "0.5"},
    "text": {"accepted_answers": "ETag\r\n\r\n an entity tag, weak ", "rubric": "A validator."},
    "coding": {
        "language": "python",
        "starter_code": "total = 0\r\n",
        "test_0_input": "1 2\r\n",
        "test_0_output": "3",
        "test_3_output": "0",
        "test_3_hidden": "true",
        "test_3_weight": "2.5",
    },
}
MADE: dict[str, dict[str, Any]] = {
    "mcq": {
        "options": [
            {"id": "a", "text": "`ETag`", "is_correct": True},
            {"id": "b", "text": "`Age`", "is_correct": False},
        ],
        "allow_multiple": False,
    },
    "numeric": {"answer_number": "42.50", "tolerance": "0.5"},
    "text": {"accepted_answers": ["ETag", "an entity tag, weak"], "rubric": "A validator."},
    "coding": {
        "language": "python",
        "starter_code": "total = 0\n",
        "test_cases": [
            {"input": "1 2\n", "expected_output": "3", "weight": 1.0, "hidden": False, "check": ""},
            {"input": "", "expected_output": "0", "weight": 2.5, "hidden": True, "check": ""},
        ],
    },
}


@pytest.fixture
def recruiter(tenant: Tenant) -> Person:
    return Person(tenant, "recruiter", livemode=True)


def offered(page: str) -> list[str]:
    """The languages that a form may be sent with."""
    [choice] = re.findall(r'<select name="fields.language".*?</select>', page, re.DOTALL) or [""]
    return re.findall(r'value="(\w+)"', choice)


def fault(page: str, id: str) -> str:
    """What is said below a field, which points to it."""
    assert re.search(rf'id="{id}" aria-invalid="true" aria-describedby="[^"]*{id}-fault"', page), id
    [said] = re.findall(rf'id="{id}-fault">([^<]*)<', page)
    return unescape(said).strip()


# --- Making one


@pytest.mark.parametrize("case_type", FORMS)
def test_a_case_of_each_type_is_made_and_listed(tenant: Tenant, recruiter: Person, case_type: str) -> None:
    assert "There is no case yet." in recruiter.get(CASES).text
    assert f'name="action" value="{case_type}"' in recruiter.get(NEW, params={"case_type": case_type}).text
    done = recruiter.act(NEW, case_type, **COMMON, **FORMS[case_type])
    assert (done.status_code, done.headers["Location"]) == (303, f"{CASES}?done=made")
    [made] = tenant.live.get("/cases/").json()["results"]
    common = {
        "title": "Caches",
        "question": "Which?",
        "difficulty": "hard",
        "points": 7,
        "tags": ["http", "web"],
    }
    wanted = common | {"case_type": case_type, "time_limit_minutes": None} | MADE[case_type]
    assert {name: made[name] for name in wanted} == wanted
    page = recruiter.get(done.headers["Location"]).text
    assert "The case is made." in page
    assert re.search(r'scope="row"><bdi>Caches</bdi></th><td>[A-Z][a-z ]+</td><td>hard</td><td>7</td>', page)


def test_several_options_and_minutes_are_as_the_form_says(tenant: Tenant, recruiter: Person) -> None:
    fields = FORMS["mcq"] | {"option_1_correct": "true", "allow_multiple": "true", "time_limit_minutes": "15"}
    assert recruiter.act(NEW, "mcq", **COMMON, **fields).status_code == 303
    [made] = tenant.live.get("/cases/").json()["results"]
    assert (made["allow_multiple"], made["time_limit_minutes"]) == (True, 15)
    assert [one["is_correct"] for one in made["options"]] == [True, True]


def test_every_field_of_a_full_form_is_taken(tenant: Tenant, recruiter: Person) -> None:
    tests = {f"test_{row}_{part}": "1" for row in range(5) for part in ("input", "output", "weight")}
    hidden = {f"test_{row}_hidden": "true" for row in range(5)}
    fields = {"language": "python", "starter_code": "", "time_limit_minutes": ""}
    assert recruiter.act(NEW, "coding", **COMMON, **tests, **hidden, **fields).status_code == 303
    assert len(tenant.live.get("/cases/").json()["results"][0]["test_cases"]) == 5


# --- What is refused


@pytest.mark.parametrize(("case_type", "fields", "id", "said"), [
    ("mcq", {"title": ""}, "mcq-title", ""), ("mcq", {"points": "many"}, "mcq-points", ""),
    ("mcq", {"time_limit_minutes": "0"}, "mcq-time_limit_minutes", ""), ("mcq", {"tags": "x" * 65}, "mcq-tags", ""),
    ("mcq", {"difficulty": "odd"}, "mcq-difficulty", ""),
    ("mcq", {"option_1_text": ""}, "options", "A multiple-choice case needs at least two options."),
    ("mcq", {"option_0_correct": ""}, "options", "At least one option must be correct."),
    ("mcq", {"option_3_correct": "true"}, "mcq-option_2_text", ""),
    ("mcq", {"option_1_correct": "true"}, "mcq-allow_multiple",
     "Several options are correct, so several must be allowed."),
    ("numeric", {"answer_number": ""}, "numeric-answer_number", "A numeric case needs its answer."),
    ("numeric", {"answer_number": "many"}, "numeric-answer_number", ""),
    ("numeric", {"tolerance": "-1"}, "numeric-tolerance", ""),
    ("text", {"rubric": "x" * 10001}, "text-rubric", ""),
    ("text", {"accepted_answers": "x" * 2001}, "text-accepted_answers", ""),
    ("coding", {"language": ""}, "coding-language", "A coding case needs its language."),
    ("coding", {"language": "cobol"}, "coding-language", ""),
    ("coding", {"test_0_input": " ", "test_0_output": "", "test_3_output": ""}, "tests",
     "A coding case needs at least one test."),
    ("coding", {"test_0_weight": "0", "test_3_weight": "0"}, "tests", "At least one test must count."),
    ("coding", {"test_3_weight": "heavy"}, "coding-test_1_weight", ""),
])  # fmt: skip
def test_a_refusal_stands_at_its_field_and_makes_nothing(
    tenant: Tenant, recruiter: Person, case_type: str, fields: dict[str, str], id: str, said: str
) -> None:
    wrong = recruiter.act(NEW, case_type, **COMMON | FORMS[case_type] | fields)
    assert wrong.status_code == 400
    found = fault(wrong.text, id)
    assert found == said if said else found
    assert tenant.live.get("/cases/").json()["results"] == []


@pytest.mark.parametrize("case_type", FORMS)
def test_what_was_typed_stays_where_a_case_is_refused(recruiter: Person, case_type: str) -> None:
    typed = COMMON | FORMS[case_type] | {"title": EVIL, "points": "1001"}
    page = recruiter.act(NEW, case_type, **typed).text
    assert "<script>alert" not in page
    values = [unescape(one) for one in re.findall(r'value="([^"]*)"(?! selected)', page)]
    written = [unescape(one).removeprefix("\n") for one in re.findall(r">([^<]*)</textarea>", page)]
    for name, value in typed.items():
        if value == "true":
            continue
        assert value in [*values, *written] or f'value="{value}" selected' in page, name
    assert page.count(" checked") == list(typed.values()).count("true")
    assert f'<a href="?case_type={case_type}" aria-current="page">' in page


def test_a_test_that_is_refused_stands_where_the_empty_ones_are_left_out(recruiter: Person) -> None:
    page = recruiter.act(NEW, "coding", **COMMON | FORMS["coding"] | {"test_3_weight": "heavy"}).text
    assert 'name="fields.test_1_weight"' in page
    assert re.search(r'name="fields.test_1_weight"[^>]*value="heavy"', page)
    assert re.search(r'name="fields.test_1_hidden"[^>]* checked', page)
    assert not re.search(r'name="fields.test_3_hidden"[^>]* checked', page)


def test_refusals_are_in_the_readers_language(recruiter: Person) -> None:
    recruiter.api.headers["Accept-Language"] = "de"
    page = recruiter.act(NEW, "numeric", **COMMON).text
    assert "Eine Zahlenaufgabe braucht ihre Antwort." in unescape(page)


# --- The languages that run here


def test_the_form_offers_the_languages_that_run_here_and_names_the_others(
    recruiter: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "missing", lambda: tuple(LANGUAGES.keys() - {"sql", "python"}))
    page = recruiter.get(NEW, params={"case_type": "coding"}).text
    assert offered(page) == ["python", "sql"]
    assert "is installed here: JavaScript, TypeScript, Java, Go, Bash." in page
    assert "No language runs here" not in page
    monkeypatch.setattr(sandbox, "missing", lambda: ())
    whole = recruiter.get(NEW, params={"case_type": "coding"}).text
    assert set(offered(whole)) == set(LANGUAGES)
    assert "is installed here" not in whole


def test_where_no_language_runs_the_page_says_so_and_has_no_form_of_programs(
    recruiter: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "missing", lambda: tuple(LANGUAGES))
    page = recruiter.get(NEW, params={"case_type": "coding"}).text
    assert "No language runs here" in page
    assert "Make the case" not in page
    assert "Make the case" in recruiter.get(NEW, params={"case_type": "text"}).text


def test_the_page_has_a_name_for_every_language_of_the_document() -> None:
    named = document.read("openapi")["components"]["schemas"]["InstalledLanguages"]["items"]["enum"]
    assert set(area_cases.LANGUAGES) == set(named) == set(LANGUAGES)


# --- By whom


@pytest.mark.parametrize("role", ROLES)
def test_who_may_not_read_or_write_cases_is_not_shown_how(tenant: Tenant, role: str) -> None:
    person, scopes = Person(tenant, role, livemode=True), ROLES[role].scopes
    reads, writes = "cases:read" in scopes, "cases:write" in scopes
    assert (f'href="{CASES}"' in person.get("/area/").text) == reads
    page = person.get(CASES)
    assert page.status_code == (200 if reads else 403)
    assert (f'href="{NEW}"' in page.text) == writes
    assert person.get(NEW).status_code == (200 if writes else 403)
    assert person.act(NEW, "text", title="Caches", difficulty="easy", points="1").status_code == (
        303 if writes else 403
    )
    assert len(tenant.live.get("/cases/").json()["results"]) == writes


def test_cases_of_another_organisation_and_of_the_other_mode_are_not_shown(
    tenant: Tenant, other: Tenant, recruiter: Person
) -> None:
    mine = states.a_case(tenant.live)
    for one in (other.live, tenant.test):
        states.a_case(one)
    page = recruiter.get(CASES).text
    title = tenant.live.get(f"/cases/{mine['id']}/").json()["title"]
    assert re.findall(r'scope="row"><bdi>([^<]*)<', page) == [title]
    assert recruiter.act(NEW, "text", **COMMON).status_code == 303
    assert len(tenant.test.get("/cases/").json()["results"]) == 1


def test_a_form_of_another_session_makes_nothing(tenant: Tenant, recruiter: Person) -> None:
    assert recruiter.act(NEW, "text", token="of another", **COMMON).status_code == 403
    assert recruiter.act(NEW, "essay", **COMMON).status_code == 400
    assert tenant.live.get("/cases/").json()["results"] == []
