"""Consent, sources and retention, decided without a database."""

from dataclasses import dataclass
from datetime import timedelta

import pytest

from rules import consent, members, sources
from rules.clock import now
from rules.errors import Invalid


@dataclass(frozen=True)
class Notice:
    consent_required: bool = True
    privacy_html: str = "<p>Six months.</p>"
    privacy_url: str | None = None


def test_consent_is_missed_where_it_is_asked_for_alone() -> None:
    assert [one["pointer"] for one in consent.faults(Notice(), accepted=False)] == ["/consent_accepted"]
    assert consent.faults(Notice(), accepted=True) == []
    assert consent.faults(Notice(consent_required=False), accepted=False) == []


def test_what_is_kept_tells_one_notice_from_another() -> None:
    kept = {
        consent.given(one, accepted=True, moment=now())["consent_text_hash"]
        for one in (Notice(), Notice(privacy_url="https://a.example"), Notice(privacy_html=""))
    }
    assert len(kept) == 3
    assert consent.given(Notice(), accepted=False, moment=now()) == {}


def test_there_is_a_notice_to_agree_to() -> None:
    with pytest.raises(Invalid):
        consent.check_notice(Notice(privacy_html=""))
    consent.check_notice(Notice(privacy_html="", privacy_url="https://a.example"))
    consent.check_notice(Notice(consent_required=False, privacy_html=""))


def test_a_links_words_are_kept_in_one_line_each_and_no_others() -> None:
    assert sources.detail({"utm_source": " a\n b ", "ref": None, "utm_medium": "", "gclid": "x"}) == {
        "utm_source": "a b"
    }
    assert sources.detail({"ref": "x" * 999}) == {"ref": "x" * sources.LONGEST}
    assert sources.detail({}) is None


@dataclass(frozen=True)
class Invite:
    expires_at: object
    accepted_at: object = None
    revoked_at: object = None


def test_an_invite_is_pending_until_its_last_moment() -> None:
    moment = now()
    later = moment + timedelta(seconds=1)
    told = {
        "pending": Invite(later),
        "expired": Invite(moment),
        "revoked": Invite(later, revoked_at=moment),
        "accepted": Invite(moment, accepted_at=moment),
    }
    assert {name: members.invite_status(one, moment) for name, one in told.items()} == {  # type: ignore[arg-type]
        name: name for name in told
    }
