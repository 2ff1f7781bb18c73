"""The settings of a data folder, whether its `hiring up` is running or not."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from app.instance import embedded, places, postgres, settings
from app.instance.places import Places
from app.instance.settings import Settings
from app.instance.trouble import Trouble
from store.database import engine
from store.operating import health

VARIABLES = {"postgres": "DATABASE_URL", "redis": "REDIS_URL"}
# A deployment says all of this itself and has no data folder.
WHOLE = ("DATABASE_URL", "REDIS_URL", "BASE_URL", "MAIL_DIR", "FILES_DIR", "SECRET_KEY")


@contextmanager
def instance(data: Path, *, base_url: str = "") -> Iterator[Settings]:
    """Give the settings of an instance that has been made; servers that do not run are started meanwhile.

    `base_url` is that of who asks, where the environment names none. Raises Trouble that says what is missing.
    """
    environ = {"BASE_URL": base_url} | _given()
    missing = [name for name in WHOLE if not environ.get(name)]
    if not missing or (missing == ["FILES_DIR"] and "FILES_S3_BUCKET" in environ):
        yield settings.read(environ)
        return
    where = places.find(data)
    if where is None:
        raise Trouble(
            f"There is no instance in {data}. `hiring up` makes one, and --data names another folder; a deployment"
            f" without a folder has to set {', '.join(missing)} too."
        )
    if base_url:
        places.keep_base_url(where, environ["BASE_URL"])
    if not (names := wanted()):
        yield assemble(where, {})
        return
    if "postgres" in names and not postgres.is_made(where):
        raise Trouble(f"{data} has no database of its own: set DATABASE_URL, or let `hiring up` make one.")
    with embedded.use(data, names) as facts:
        yield assemble(where, facts)


def wanted() -> tuple[str, ...]:
    """Return the servers that the environment does not name, which are therefore embedded."""
    return tuple(name for name, variable in VARIABLES.items() if not os.environ.get(variable))


def assemble(where: Places, facts: dict[str, Any]) -> Settings:
    """Put settings together: the environment first, then what is known of the running instance."""
    known = {variable: facts[name] for name, variable in VARIABLES.items() if name in facts}
    given = _given()
    defaults = {
        "BASE_URL": places.base_url(where),
        "MAIL_DIR": str(where.mail),
        "FILES_DIR": str(where.files),
        "SECRET_KEY": given.get("SECRET_KEY") or places.secret_key(where),
    }
    return settings.read(defaults | known | given)


def need_schema(settings: Settings) -> None:
    """Raise Trouble when the database answers and has no schema or an older one."""
    engine.configure(settings.database_url, pool_size=1)
    database, schema = health.database()
    engine.engine().dispose()
    if database == health.OK != schema:
        raise Trouble(f"{schema[0].upper()}{schema[1:]}: run `hiring migrate`.")


def _given() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if value}
