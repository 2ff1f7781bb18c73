"""What we reach of Connexion beyond its documented seams."""

from connexion.spec import OpenAPISpecification

BOUND = "connexion>=3.3,<3.4"


def trust_documents() -> None:
    """Load documents without holding them against OpenAPI's own schema, which takes a quarter of a start.

    Leans on spec.py, `OpenAPISpecification.openapi_schema`: a class attribute that `_validate_spec` checks against.
    """
    OpenAPISpecification.openapi_schema = {}
