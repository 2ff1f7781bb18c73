"""The contract itself, published where it is served."""

import flask

from schemas import document

CACHED = "public, max-age=300"


def get_document_json() -> flask.Response:
    """Answer the document as JSON."""
    return _publish("json")


def get_document_yaml() -> flask.Response:
    """Answer the document as it was written."""
    return _publish("yaml")


def get_document_twin() -> flask.Response:
    """Answer the document as OpenAPI 3.1, with the events as webhooks."""
    return _publish("3.1")


def _publish(form: str) -> flask.Response:
    published = document.publish(form)
    response = flask.Response(published.content, content_type=published.media_type)
    response.set_etag(published.etag)
    response.headers["Cache-Control"] = CACHED
    response.make_conditional(flask.request)
    return response
