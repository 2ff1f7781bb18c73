"""The contract itself, published where it is served."""

from schemas import document
from schemas.files import File


def get_document_json() -> File:
    """Answer the document as JSON."""
    return document.publish("openapi.json")


def get_document_yaml() -> File:
    """Answer the document as YAML."""
    return document.publish("openapi.yaml")


def get_document_twin() -> File:
    """Answer the document as OpenAPI 3.1, with the events as webhooks."""
    return document.publish("openapi-3.1.json")
