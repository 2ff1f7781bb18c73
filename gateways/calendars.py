"""Entries of calendars, as mails carry them (RFC 5545 and 5546)."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from icalendar import Calendar, Event, vCalAddress, vText

from rules.clock import now

Person = tuple[str, str]  # a name, which may be empty, and an address


def write(entry: Mapping[str, Any], *, sender: Person, attendee: Person) -> bytes:
    """Write `{method, uid, sequence, starts_at, minutes, title, url}`; a later sequence replaces the earlier ones."""
    start = datetime.fromisoformat(entry["starts_at"]).astimezone(UTC)
    event = Event()
    event.add("uid", entry["uid"])
    event.add("sequence", entry["sequence"])
    event.add("dtstamp", now().replace(microsecond=0))
    event.add("dtstart", start)
    event.add("dtend", start + timedelta(minutes=entry["minutes"]))
    event.add("summary", entry["title"])
    event.add("location", entry["url"])
    event.add("url", entry["url"])
    event.add("status", "CANCELLED" if entry["method"] == "CANCEL" else "CONFIRMED")
    event.add("organizer", _address(sender))
    invited = _address(attendee)
    invited.params["ROLE"] = vText("REQ-PARTICIPANT")
    invited.params["RSVP"] = vText("FALSE")
    event.add("attendee", invited, encode=False)
    calendar = Calendar()
    calendar.add("prodid", "-//hiring//interviews//EN")
    calendar.add("version", "2.0")
    calendar.add("method", entry["method"])
    calendar.add_component(event)
    return bytes(calendar.to_ical())


def _address(person: Person) -> vCalAddress:
    name, address = person
    written = vCalAddress(f"mailto:{address}")
    if name:
        written.params["CN"] = vText(name)
    return written
