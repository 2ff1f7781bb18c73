"""What the commands of administration share: a transaction on the instance's database, and whose it is about."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import OperationalError, ProgrammingError
from sqlalchemy.orm import Session

import store
from app.instance import opening, places, prepared
from app.instance.trouble import Trouble
from store.accounts import organisations
from store.accounts.organisations import Organisation
from store.database import engine
from store.operating import migrate


@contextmanager
def transaction(data: Path) -> Iterator[Session]:
    """Open one transaction on the instance's database, brought to the newest schema when it is embedded."""
    with opening.instance(data) as settings:
        if "postgres" in opening.wanted():
            migrate.upgrade(settings.database_url)
            prepared.forget(places.settle(data))
        engine.configure(settings.database_url, pool_size=1)
        try:
            with store.transaction() as session:
                yield session
        except ProgrammingError as error:
            raise Trouble(f"The database has another schema; run `hiring migrate`. ({error.orig})") from error
        except OperationalError as error:
            raise Trouble(f"The database does not answer: {error.orig}") from error
        finally:
            engine.engine().dispose()


def organisation(session: Session, slug: str) -> Organisation:
    """Find an organisation, or say how to make one."""
    found = organisations.by_slug(session, slug)
    if found is None:
        raise Trouble(f"There is no organisation {slug!r}. `hiring orgs create NAME` makes one.")
    return found
