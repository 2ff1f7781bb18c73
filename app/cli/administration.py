"""What the commands of administration share: a transaction on the instance's database, and whose it is about."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

from sqlalchemy.exc import OperationalError, ProgrammingError
from sqlalchemy.orm import Session

import store
from app.instance import opening, places, prepared
from app.instance.trouble import Trouble
from rules import links
from rules.refusal import Refusal
from store.accounts import organisations
from store.accounts.organisations import Organisation
from store.auditing import trail
from store.database import engine
from store.database import secrets as keys
from store.operating import migrate


@contextmanager
def transaction(data: Path, *, secrets: bool = False) -> Iterator[Session]:
    """Open one transaction on the instance's database; see `database`."""
    with database(data, secrets=secrets), store.transaction() as session:
        yield session


@contextmanager
def database(data: Path, *, secrets: bool = False) -> Iterator[None]:
    """Have the instance's database for transactions, brought to the newest schema when it is embedded.

    With `secrets`, what is sealed with the instance's key can be read.
    """
    with opening.instance(data) as settings:
        links.configure(settings.base_url)  # of mails that are asked for, and of what is shown
        if secrets:
            keys.configure(settings.secret_key)
        if "postgres" in opening.wanted():
            migrate.upgrade(settings.database_url)
            prepared.forget(places.settle(data))
        engine.configure(settings.database_url, pool_size=1)
        try:
            yield
        except Refusal as refusal:
            raise Trouble(_sentence(refusal)) from refusal
        except ProgrammingError as error:
            raise Trouble(f"The database has another schema; run `hiring migrate`. ({error.orig})") from error
        except OperationalError as error:
            raise Trouble(f"The database does not answer: {error.orig}") from error
        finally:
            engine.engine().dispose()


def _sentence(refusal: Refusal) -> str:
    """Say in a line what the rules refuse: each fault of what was given, or why not."""
    return " ".join(one["message"] for one in refusal.details.get("fields", ())) or str(refusal)


def organisation(session: Session, slug: str) -> Organisation:
    """Find an organisation, or say how to make one."""
    found = organisations.by_slug(session, slug)
    if found is None:
        raise Trouble(f"There is no organisation {slug!r}. `hiring orgs create NAME` makes one.")
    return found


def noted(
    session: Session, command: str, kind: str, id: UUID | str | None = None, *, owner: UUID | None = None
) -> None:
    """Have what a command did told of in the audit log, with its change."""
    entry = trail.Entry("cli", "cli", command, organisation_id=owner)
    entry.resource_type, entry.resource_id = kind, None if id is None else str(id)
    trail.note(session, entry)
