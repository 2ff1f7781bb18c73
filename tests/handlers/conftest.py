"""What tests of handlers share."""

from collections.abc import Iterator
from typing import Any

import pytest
from connexion import FlaskApp

from app.http.threads.lanes import ORDINARY
from tests import asgi


@pytest.fixture
def begun(app: FlaskApp) -> Iterator[list[Any]]:
    """What a request thread was asked to do."""
    hop, asked = asgi.front(app).lanes[ORDINARY].hop, []  # type: ignore[var-annotated]
    submit = hop.submit
    hop.submit = lambda function, *given, **how: asked.append(function) or submit(function, *given, **how)  # type: ignore[method-assign,func-returns-value]
    yield asked
    hop.submit = submit  # type: ignore[method-assign]
