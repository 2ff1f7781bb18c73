"""The web application, assembled."""

from typing import Any
from urllib.parse import urlsplit

import connexion
import flask
from connexion.middleware import ConnexionMiddleware, MiddlewarePosition
from connexion.middleware.request_validation import RequestValidationMiddleware
from connexion.middleware.response_validation import ResponseValidationMiddleware
from connexion.middleware.swagger_ui import SwaggerUIMiddleware
from connexion.spec import OpenAPISpecification
from starlette.exceptions import HTTPException
from swagger_ui_bundle import swagger_ui_path

from app.http import limits, refusals
from app.http.limits import Limits
from app.http.operations import TagResolver
from app.http.paths import Entrance, Paths, Tree
from app.http.plan import FastPath
from app.http.security import ScopedBearer
from app.http.validation import Validation
from app.instance import wiring
from app.instance.settings import ROOT, Settings
from rules.errors import Refusal
from schemas import document

PUBLIC = ROOT / "spec" / "openapi.yaml"
CANDIDATE = ROOT / "spec" / "candidate.yaml"

# That the documents are OpenAPI is for their tests to say: here it would take another quarter of the start.
OpenAPISpecification.openapi_schema = {}


def create_app(settings: Settings) -> connexion.FlaskApp:
    """Assemble the application that serves both documents."""
    wiring.configure(settings, pool_size=settings.threads + 4)
    limits.configure(settings.candidate_limit)
    app = connexion.FlaskApp(
        "hiring",
        middlewares=_stations(),
        security_map={"bearer": ScopedBearer},
        server_args={"static_folder": str(ROOT / "static"), "template_folder": str(ROOT / "templates")},
    )
    tree = Tree()
    for path in (PUBLIC, CANDIDATE):
        spec = document.read(path)
        base = spec["servers"][0]["url"].rstrip("/")
        for template, methods in spec["paths"].items():
            tree.add(base + template, methods)
        app.add_api(spec, base_path=base, resolver=TagResolver(spec), name=path.stem)
    app.app.add_url_rule("/static/reference/<path:name>", "reference", _reference_file)
    outermost = MiddlewarePosition.BEFORE_EXCEPTION
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(settings.base_url))
    app.add_middleware(Entrance, outermost, trusted_proxies=settings.trusted_proxies, origin=origin)
    if settings.fast_path:
        app.add_middleware(FastPath, outermost, threads=settings.threads)
    app.add_middleware(Paths, MiddlewarePosition.BEFORE_ROUTING, tree=tree)
    for kind in (Refusal, connexion.ProblemException, HTTPException, Exception):
        app.add_error_handler(kind, refusals.answer)
    return app


def _reference_file(name: str) -> flask.Response:
    """Serve the reference page's script and style, which come from a package."""
    return flask.send_from_directory(swagger_ui_path, name, max_age=86_400)


def _stations() -> list[Any]:
    """List Connexion's middlewares, with our own validation and limits, and without what production does not need."""
    stations: list[Any] = []
    for station in ConnexionMiddleware.default_middlewares:
        if station is RequestValidationMiddleware:
            stations += [Limits, Validation]
        elif station not in (SwaggerUIMiddleware, ResponseValidationMiddleware):
            stations.append(station)
    return stations
