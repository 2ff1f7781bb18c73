"""What we reach of Connexion beyond its documented seams."""

from collections.abc import Awaitable, Callable
from typing import Any

from connexion import FlaskApp
from connexion.spec import OpenAPISpecification

App = Callable[[Any, Any, Any], Awaitable[None]]
BOUND = "connexion>=3.3,<3.4"
LEANS_ON = [
    ("connexion/spec.py", "validator = OpenApiValidator(cls.openapi_schema)"),
    ("connexion/middleware/main.py", "self.app, self.middleware_stack = self._build_middleware_stack()"),
    ("connexion/middleware/main.py", 'scope["app"] = self'),
    ("connexion/middleware/main.py", "await self.app(scope, receive, send)"),
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
    outer.app, outer.middleware_stack = outer._build_middleware_stack()

    def begin(scope: Any, receive: Any, send: Any) -> Awaitable[None]:
        scope["app"] = outer
        first: App = outer.app
        return first(scope, receive, send)

    return begin
