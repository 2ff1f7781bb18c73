"""What an erased person left outside the database: files, and mails that were written to the mail folder."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import orjson

from gateways import files, mail
from store.database import secrets


def erase(_id: UUID, arguments: Mapping[str, Any]) -> None:
    """Let them go; what is gone already is fine."""
    for key in arguments["files"]:
        files.delete(key)
    mail.forget(arguments["mails"], set(orjson.loads(secrets.unseal(arguments["addresses"]))))
