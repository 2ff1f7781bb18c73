"""What we reach of Connexion beyond its documented seams."""

import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Never

# What Connexion loads for tests, and for documents on other machines: a twentieth of a start, and 11 MiB. Whoever wants
# one of them loads it before.
LEFT_OUT = ("starlette.testclient", "requests", "httpx")


class _LeftOut(ModuleType):
    """What stands there instead."""

    def __getattr__(self, name: str) -> type[Any]:
        def refuse(*_: object, **__: object) -> Never:
            raise ImportError(f"{self.__name__} is left out: import it before insides.connexion.")

        return type(name, (), {"__init__": refuse})


@contextmanager
def _without(*names: str) -> Iterator[None]:
    """Leave modules out of what is loaded in the block, unless they are there already."""
    absent = {name: _LeftOut(name) for name in names if name not in sys.modules}
    sys.modules.update(absent)
    yield
    for name in absent:
        del sys.modules[name]


with _without(*LEFT_OUT):
    from connexion import FlaskApp
    from connexion.spec import OpenAPISpecification

App = Callable[[Any, Any, Any], Awaitable[None]]
BOUND = "connexion>=3.3,<3.4"
LEANS_ON = [
    ("connexion/spec.py", "validator = OpenApiValidator(cls.openapi_schema)"),
    ("connexion/spec.py", "self._raw_spec = copy.deepcopy(raw_spec)"),
    ("connexion/middleware/main.py", "self.app, self.middleware_stack = self._build_middleware_stack()"),
    ("connexion/middleware/main.py", 'scope["app"] = self'),
    ("connexion/middleware/main.py", "await self.app(scope, receive, send)"),
    ("connexion/apps/abstract.py", "from starlette.testclient import TestClient"),
    ("connexion/json_schema.py", "import requests"),
    ("connexion/security.py", "import httpx"),
    ("connexion/apps/abstract.py", "return await self.middleware(scope, receive, send)"),
]


def trust_documents() -> None:
    """Load documents without holding them against OpenAPI's own schema, which takes a quarter of a start."""
    OpenAPISpecification.openapi_schema = {}


def build(app: FlaskApp) -> App:
    """Build the chain of middlewares now (of itself it does so when it is first called), and return where it begins.

    What an application and its chain pass a request through before it costs as much as a station of it, and again
    whenever a request has waited.
    """
    outer = app.middleware
    for api in outer.apis:
        api.specification._raw_spec = {}  # a document as it was read, for pages that show it: those are our own
    outer.app, outer.middleware_stack = outer._build_middleware_stack()

    def begin(scope: Any, receive: Any, send: Any) -> Awaitable[None]:
        scope["app"] = outer
        first: App = outer.app
        return first(scope, receive, send)

    return begin
