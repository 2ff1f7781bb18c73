"""A service of some day: it answers with the document's examples, in which every value that may be new is new."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from schemas.arrangement import KNOWN

NEW = "something_new"


def renewed(document: dict[str, Any], schema: dict[str, Any], value: Any) -> Any:
    """Return an example with other values than those that its schema knows, and with a field that it does not know."""
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if isinstance(value, list):
        return [renewed(document, schema.get("items", {}), one) for one in value]
    if isinstance(value, dict):
        fields = schema.get("properties", {})
        return {name: renewed(document, fields.get(name, {}), one) for name, one in value.items()} | {
            NEW: NEW
        }
    return NEW if KNOWN in schema and isinstance(value, str) else value


def answers(document: dict[str, Any], status: str) -> dict[str, Any]:
    """Return the body of each GET's answer of that status, by the expression that its path matches."""
    found = {}
    for path, item in document["paths"].items():
        response = item.get("get", {}).get("responses", {}).get(status, {})
        if "$ref" in response:
            response = document["components"]["responses"][response["$ref"].rpartition("/")[2]]
        content = response.get("content", {}).get("application/json")
        if content:
            example = next(iter(content["examples"].values()))
            if "$ref" in example:
                example = document["components"]["examples"][example["$ref"].rpartition("/")[2]]
            value = renewed(document, content["schema"], example["value"])
            found[re.sub(r"{\w+}", "[^/]+", path)] = value
    return found


@contextmanager
def newer(document: dict[str, Any]) -> Iterator[str]:
    """Serve; return the base URL. What is called `missing` is refused for a reason that is new."""
    fine, missing = answers(document, "200"), answers(document, "404")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            status, known = (404, missing) if "missing" in path else (200, fine)
            body = next(body for pattern, body in known.items() if re.fullmatch(pattern, path))
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
