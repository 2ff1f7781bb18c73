"""Mails to sign in with: the code is made here, so that it is nowhere but in the mail."""

from typing import Any
from uuid import UUID

import store
from gateways import mail
from schemas import people
from store.accounts import sign_ins
from workers.mail import compose


def send(id: UUID, arguments: dict[str, Any]) -> None:
    """Mail a code and a link to each member with an address, `{email}`: one for each organisation; none to others."""
    mails = []
    with store.transaction() as session:
        for member, organisation_name in sign_ins.members_at(session, arguments["email"]):
            if made := sign_ins.make(session, member):
                row, code, token = made
                mails.append((row.id, people.sign_in_mail(member.email, organisation_name, code, token)))
    for row_id, said in mails:
        mail.send(compose(row_id, said))
