"""What we reach of Connexion beyond its documented seams."""

from connexion.spec import OpenAPISpecification

BOUND = "connexion>=3.3,<3.4"
LEANS_ON = [("connexion/spec.py", "validator = OpenApiValidator(cls.openapi_schema)")]


def trust_documents() -> None:
    """Load documents without holding them against OpenAPI's own schema, which takes a quarter of a start."""
    OpenAPISpecification.openapi_schema = {}
