"""What we reach of Connexion beyond its documented seams."""

from connexion import FlaskApp
from connexion.spec import OpenAPISpecification

BOUND = "connexion>=3.3,<3.4"
LEANS_ON = [
    ("connexion/spec.py", "validator = OpenApiValidator(cls.openapi_schema)"),
    ("connexion/middleware/main.py", "self.app, self.middleware_stack = self._build_middleware_stack()"),
]


def trust_documents() -> None:
    """Load documents without holding them against OpenAPI's own schema, which takes a quarter of a start."""
    OpenAPISpecification.openapi_schema = {}


def build(app: FlaskApp) -> None:
    """Build the chain of middlewares now: of itself it does so when it is first called."""
    outer = app.middleware
    outer.app, outer.middleware_stack = outer._build_middleware_stack()
