"""The settings of a data folder, whether its `hiring up` is running or not."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from app.instance import embedded, places, settings
from app.instance.places import Places
from app.instance.settings import Settings

VARIABLES = {"postgres": "DATABASE_URL", "redis": "REDIS_URL"}
WHOLE = ("DATABASE_URL", "REDIS_URL", "BASE_URL", "MAIL_DIR", "SECRET_KEY")
DEFAULT_URL = "http://127.0.0.1:8080"


@contextmanager
def instance(data: Path) -> Iterator[Settings]:
    """Give the settings of an instance; servers that do not run are started for as long as this lasts."""
    if all(
        os.environ.get(name) for name in WHOLE
    ):  # a deployment says everything itself and has no data folder
        yield settings.read()
        return
    if not (names := wanted()):
        yield assemble(places.settle(data), {})
        return
    with embedded.use(data, names) as facts:
        yield assemble(places.settle(data), facts)


def wanted() -> tuple[str, ...]:
    """Return the servers that the environment does not name, which are therefore embedded."""
    return tuple(name for name, variable in VARIABLES.items() if not os.environ.get(variable))


def assemble(where: Places, facts: dict[str, Any]) -> Settings:
    """Put settings together: the environment first, then what is known of the running instance."""
    known = {variable: facts[name] for name, variable in VARIABLES.items() if name in facts}
    defaults = {
        "BASE_URL": facts.get("base_url", DEFAULT_URL),
        "MAIL_DIR": str(where.mail),
        "FILES_DIR": str(where.files),
        "SECRET_KEY": os.environ.get("SECRET_KEY") or places.secret_key(where),
    }
    given = {name: value for name, value in os.environ.items() if value}
    return settings.read(defaults | known | given)
