"""What a mail's text may name, and what it must."""

import pytest

from rules import mail_templates as rules
from rules.errors import Invalid, NotFound


def faults(name: str, **texts: str) -> dict[str, str]:
    try:
        rules.check(rules.kind(name, "en"), texts)
    except Invalid as refusal:
        return {one["pointer"]: one["message"] for one in refusal.details["fields"]}
    return {}


def test_a_text_names_what_its_kind_has() -> None:
    for name, kind in rules.KINDS.items():
        text = " ".join(f"{{{{ {one} }}}}" for one in kind.placeholders)
        assert faults(name, subject=text, body_text=text) == {}


def test_an_unknown_placeholder_is_refused_by_its_name() -> None:
    found = faults("rejection", subject="{{job_titel}}", body_text="Hello {{ candidate.name }} {{}}")
    assert "'job_titel'" in found["/subject"]
    assert "candidate_name, job_title, organisation_name" in found["/subject"]
    assert set(found) == {"/subject", "/body_text"}
    assert "invite_url" in faults("rejection", body_text="{{invite_url}}")["/body_text"]


def test_a_text_of_ones_own_has_what_its_reader_needs() -> None:
    for name, needed in {
        "invitation": "invite_url",
        "reminder": "invite_url",
        "offer": "respond_url",
    }.items():
        assert f"{{{{{needed}}}}}" in faults(name, body_text="Hello")["/body_text"]
        for text in ("", "  \n", f"Here: {{{{{needed}}}}}"):
            assert faults(name, body_text=text, subject="Hello") == {}
    assert faults("rejection", body_text="Hello") == {}


@pytest.mark.parametrize(("name", "language"), [("completion", "en"), ("invitation", "xx"), ("", "en")])
def test_there_are_so_many_templates_and_no_more(name: str, language: str) -> None:
    with pytest.raises(NotFound):
        rules.kind(name, language)


def test_filling_leaves_what_stands_between_as_it_is() -> None:
    filled = rules.fill("a {{x}} {y} {{ z }} }} {{", lambda name: name.upper(), lambda text: text)
    assert filled == "a X {y} Z }} {{"
