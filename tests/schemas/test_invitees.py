"""Candidates from a file: what spreadsheets write, and what is none."""

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.errors import Invalid
from schemas import invitees

HEAD = "email,name,role,external_id\n"


def said(fault: pytest.ExceptionInfo[Invalid]) -> str:
    [one] = fault.value.details["fields"]
    assert one["pointer"] == "/candidates"
    return str(one["message"])


@pytest.mark.parametrize(
    "text",
    [
        "email,name\nada@example.com,Ada\n",
        "Email;Name\r\nada@example.com;Ada\r\n",
        "name\temail\nAda\tada@example.com",
        "\ufeffemail,name,team\nada@example.com,Ada,Blue\n\n , \n",
        'email,name\n"ada@example.com","Ada"\n',
        "ada@example.com,Ada",
        "E-Mail,EMAIL,Name\nx,ada@example.com,Ada",
    ],
)
def test_a_table_is_read_as_spreadsheets_write_it(text: str) -> None:
    assert invitees.read(text) == ([{"email": "ada@example.com", "name": "Ada"}], [])


def test_what_is_empty_is_left_to_the_operation() -> None:
    found = invitees.candidates(f"{HEAD},Ada,,\nada@example.com,,,x-1\n")
    assert found == [{"email": "", "name": "Ada"}, {"email": "ada@example.com", "external_id": "x-1"}]


def test_a_line_that_is_too_long_is_told_and_not_sent() -> None:
    found, faults = invitees.read(f"{HEAD}ada@example.com,{'x' * 201}\ngrace@example.com,Grace\n")
    assert [one["email"] for one in found] == ["grace@example.com"]
    assert [(one["line"], one["email"], str(one["reason"])) for one in faults] == [
        (2, "ada@example.com", "name is longer than 200.")
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "There is no line in it."),
        (" \n\n", "There is no line in it."),
        (HEAD, "There is no line below the names of the columns."),
        ("name,role\nAda,Engineer", "No column is called email."),
        (HEAD + "ada@example.com\n" * 1_001, "There are more than 1000 candidates: divide the file."),
        (HEAD + 'ada@example.com,"Ada', "Line 2 cannot be read: its quotation marks do not match."),
        (HEAD + 'ada@example.com,"A"da\n', "Line 2 cannot be read: its quotation marks do not match."),
    ],
)
def test_what_is_no_table_of_candidates_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(Invalid) as fault:
        invitees.read(text)
    assert said(fault) == why


def test_a_file_is_utf8_and_not_too_large() -> None:
    assert invitees.text("\ufeffemail\nadä@example.com".encode()) == "email\nadä@example.com"
    with pytest.raises(Invalid) as fault:
        invitees.text("email,name\nada@example.com,Zoë".encode("cp1252"))
    assert said(fault) == "Line 2 is not UTF-8: save the file as CSV UTF-8."
    with pytest.raises(Invalid) as fault:
        invitees.text(b"x" * (invitees.LARGEST + 1))
    assert said(fault) == "The file is larger than 256 KiB."


@given(st.text() | st.none())
def test_whatever_is_sent_is_read_or_refused(text: Any) -> None:
    try:
        found, _ = invitees.read(text)
    except Invalid:
        return
    assert len(found) <= invitees.MOST


@given(st.lists(st.text(st.characters(blacklist_categories=("Cs", "Cc"))), min_size=1, max_size=5))
def test_what_a_spreadsheet_writes_comes_back(names: list[str]) -> None:
    file = io.StringIO()
    csv.writer(file).writerows([["email", "name"], *(["ada@example.com", one] for one in names)])
    found = invitees.candidates(file.getvalue())
    assert [one.get("name", "") for one in found] == [one.strip() for one in names]
