"""What a form tells, and what it does not excuse."""

import pytest

from tests.contract import forms

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["title"],
    "properties": {
        "title": {"type": "string", "minLength": 1},
        "limit": {"type": "integer", "nullable": True, "minimum": 1},
        "tags": {"type": "array", "maxItems": 1, "items": {"type": "string", "minLength": 1}},
        "rules": {"type": "array", "items": {"type": "object", "required": ["key"]}},
        "is_active": {"type": "boolean"},
        "cv": {"type": "string", "format": "binary"},
        "due": {"type": "string", "format": "date-time", "nullable": True},
    },
}


@pytest.mark.parametrize(
    "sent",
    [
        "title=x",
        "title=x&limit=",  # null
        "title=x&limit=3",
        "title=x&tags=a",  # an array of one
        'title=x&rules=[{"key":1}]',
        "title=x&is_active=True",
        "title=x&due=2026-11-21T10:00:00Z",
    ],
)
def test_a_form_may_be_how_a_valid_body_is_written(sent: str) -> None:
    assert forms.tells_a_valid_body(sent.encode(), forms.URLENCODED, SCHEMA)


@pytest.mark.parametrize(
    "sent",
    [
        "title=&limit=",  # the title is empty, whatever the limit says
        "limit=",
        "title=x&limit=0&due=",
        "title=x&limit=&unknown=1",
        "title=x&tags=a&tags=b&limit=",
        "title=x&tags=&limit=",
        "title=x&rules=[{}]&limit=",
        "title=x&is_active=",
        "title=x&limit=&due=yesterday",
        "title=x&limit=&due=2026-11-21T10:00:00",
    ],
)
def test_an_empty_field_excuses_no_other(sent: str) -> None:
    assert not forms.tells_a_valid_body(sent.encode(), forms.URLENCODED, SCHEMA)


def test_a_part_with_a_file_name_is_a_file_and_nothing_else() -> None:
    def parts(name: str) -> bytes:
        file = f'--b\r\nContent-Disposition: form-data; name="{name}"; filename="cv"\r\n\r\nAda\r\n'
        return f'{file}--b\r\nContent-Disposition: form-data; name="title"\r\n\r\nx\r\n--b--\r\n'.encode()

    assert forms.tells_a_valid_body(parts("cv"), "multipart/form-data; boundary=b", SCHEMA)
    assert not forms.tells_a_valid_body(parts("tags"), "multipart/form-data; boundary=b", SCHEMA)
