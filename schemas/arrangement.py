"""What the published documents say in words of their own, because stock tools misread OpenAPI's, and what it means.

`docs/decisions/0046` has the rules; `tests/document/arrange.py` writes what is read here.
"""

from typing import Any

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"

# Of a body: the media types that it may have beside those in `content`, each with what is its own.
ALSO = "x-also-accepts"
# Of an operation: the alternatives of scopes, for which OpenAPI 3.0 has no place beside a bearer key.
SCOPES = "x-scopes"
# In place of a list of all values: the ones that there are, and others may come.
KNOWN = "x-extensible-enum"
OPEN = "x-open-enum"
# The bounds of what may be any value, by its type.
ANY_VALUE: dict[str, dict[str, Any]] = {
    "string": {"maxLength": 100, "pattern": r"^[^\x00]*$"},
    "integer": {"minimum": -(2**31), "maximum": 2**31 - 1},
}
# What a request leaves out has this value; alternatives that only narrow the type beside them; the body of a link.
WORDS = {"x-default": "default", "x-any-of": "anyOf", "x-one-of": "oneOf", "x-request-body": "requestBody"}
# Components that events alone refer to, of which OpenAPI 3.0 knows nothing, stand here instead of among `components`.
APART = "x-event-components"
_APART, _TOGETHER = f"#/{APART}/", "#/components/"


def restore(document: dict[str, Any]) -> dict[str, Any]:
    """Return a published document with OpenAPI's own words: all that the service takes, for all three media types.

    What a document says without the words above stays as it is.
    """
    whole: dict[str, Any] = _restore(document)
    for section, named in whole.pop(APART, {}).items():
        whole["components"][section] = dict(sorted((whole["components"].get(section, {}) | named).items()))
    return whole


def _restore(value: Any) -> Any:
    if isinstance(value, list):
        return [_restore(one) for one in value]
    if isinstance(value, str) and value.startswith(_APART):
        return _TOGETHER + value.removeprefix(_APART)
    if not isinstance(value, dict):
        return value
    written = {WORDS.get(name, name): _restore(one) for name, one in value.items()}
    if KNOWN in written:
        bounds = ANY_VALUE[written["type"]]
        kept = {name: one for name, one in written.items() if bounds.get(str(name)) != one}
        written = {"enum" if name == KNOWN else name: one for name, one in kept.items()} | {OPEN: True}
    if SCOPES in written:
        [scheme] = written["security"][0]
        written["security"] = [{scheme: scopes} for scopes in written.pop(SCOPES)]
    if ALSO in written:
        written["content"] = _every_media_type(written["content"], written.pop(ALSO))
    return written


def _every_media_type(content: dict[str, Any], also: dict[str, Any]) -> dict[str, Any]:
    """One schema serves all: multipart's, which has files beside the rest, or else JSON's."""
    schema = content.get(MULTIPART, content[JSON])["schema"]
    return {media: {**one, "schema": schema} for media, one in (content | also).items()}
