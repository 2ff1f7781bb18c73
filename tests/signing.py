"""People who sign in, in tests: the mail that was asked for, written at once."""

import re
from typing import Any

from sqlalchemy import select

import store
from gateways import mail
from store.accounts.members import Member
from store.outbox import OutboxItem
from tests.api import Api, Tenant, address
from workers import signing_in

AREA = "/api/v1/area"


def a_member(tenant: Tenant, role: str = "owner", email: str | None = None) -> Member:
    """Somebody who belongs to an organisation and is not signed in."""
    with store.transaction() as session:
        made = Member(
            organisation_id=tenant.organisation.id, email=email or address(), name="Grace Hopper", role=role
        )
        session.add(made)
        session.flush()
        session.expunge(made)
        return made


def area(api: Api) -> Api:
    """The same caller before the area's own operations."""
    return Api(api.http, api.key, AREA, headers=api.headers)


def nobody(tenant: Tenant) -> Api:
    """Somebody who is not signed in."""
    return Api(tenant.http, None, AREA)


def mails(email: str) -> list[mail.Mail]:
    """Do what was asked for a person's address, and return the mails that it makes."""
    sent: list[mail.Mail] = []
    send = mail.send
    try:
        mail.send = sent.append
        with store.transaction() as session:
            asked = select(OutboxItem).where(
                OutboxItem.job == "sign_in", OutboxItem.arguments["email"].astext == email
            )
            for item in session.scalars(asked):
                signing_in.send(item.id, item.arguments)
                session.delete(item)
    finally:
        mail.send = send
    return sent


def asked(tenant: Tenant, email: str) -> tuple[str, str]:
    """Ask for a mail and return its code and the token of its link."""
    answer = nobody(tenant).post("/sign-in/mail/", {"email": email})
    assert answer.status_code == 202, answer.text
    sent = mails(email)[-1]
    [code] = re.findall(r"Your code: (\d{8})", sent.text)
    [token] = re.findall(r"/area/sign-in/([\w-]+)/", sent.text)
    return code, token


def cookie(answer: Any) -> str:
    """The session of an answer."""
    return str(answer.headers["Set-Cookie"].partition(";")[0].partition("=")[2])
