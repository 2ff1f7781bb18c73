"""What may be said of a new API key, and what may still be done with one."""

import ipaddress
from collections.abc import Sequence
from datetime import datetime, timedelta

from rules.errors import Invalid

TOLD_BEFORE = (timedelta(days=7), timedelta(days=1))  # that a key ends, its people are mailed
LONGEST_OVERLAP = 168  # hours for which a key goes on beside the one that follows it


def check_new(cidrs: Sequence[str], expires_at: datetime | None, moment: datetime) -> list[str]:
    """Return networks as they are written, or refuse with every fault."""
    faults, written = [], []
    for number, one in enumerate(cidrs):
        try:
            written.append(str(ipaddress.ip_network(one)))
        except ValueError as fault:
            faults.append({"pointer": f"/cidrs/{number}", "message": f"{fault}."})
    if expires_at and expires_at <= moment:
        faults.append({"pointer": "/expires_at", "message": "Must be in the future."})
    if faults:
        raise Invalid(fields=faults)
    return list(dict.fromkeys(written))


def check_works(revoked_at: datetime | None, expires_at: datetime | None, moment: datetime) -> None:
    """Refuse to change or replace a key that does not work any more."""
    if revoked_at:
        raise Invalid("The key is revoked; make a new one.", status="revoked")
    if expires_at and expires_at <= moment:
        raise Invalid("The key has expired; make a new one.", status="expired")


def next_mail(expires_at: datetime | None, moment: datetime) -> datetime | None:
    """Return when people are mailed next that a key ends; None where they are not any more."""
    moments = [expires_at - before for before in TOLD_BEFORE] if expires_at else []
    return next((one for one in moments if one > moment), None)
