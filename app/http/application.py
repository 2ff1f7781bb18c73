"""The web application, assembled."""

import connexion
from connexion.middleware import ConnexionMiddleware, MiddlewarePosition
from connexion.middleware.response_validation import ResponseValidationMiddleware
from connexion.middleware.server_error import ServerErrorMiddleware
from connexion.middleware.swagger_ui import SwaggerUIMiddleware
from starlette.exceptions import HTTPException

import insides.connexion
from app.http import limits, refusals, seats
from app.http.front import Front
from app.http.live.channel import Live
from app.http.records.entrance import Entrance
from app.http.threads import clients, lanes
from app.http.threads.places import Served
from app.instance import wiring
from app.instance.settings import Settings
from gateways.load import Load
from rules import links
from rules.refusal import Refusal
from schemas import document

# That the documents are OpenAPI is for their tests to say.
insides.connexion.trust_documents()


# The entrance answers what nobody else has; the other two are for who writes an application.
NOT_NEEDED = (ServerErrorMiddleware, SwaggerUIMiddleware, ResponseValidationMiddleware)
SPARE = 6  # connections for the lanes, which hold none while they wait for others, and for live rooms
# Connections of the loop: for looking keys up, beside those of what is read, and for the bell beside those of changes.
KEYS, BELL = 4, 1


def pool_size(settings: Settings) -> int:
    """Return how many connections for threads each of a web process's two pools keeps."""
    return settings.threads + SPARE


def create_app(settings: Settings) -> connexion.FlaskApp:
    """Assemble the application that serves both documents."""
    wiring.configure(
        settings,
        pool_size=pool_size(settings),
        loop_readers=settings.reads_at_once + KEYS,
        loop_writers=settings.changes_at_once + BELL,
        for_requests=True,
    )
    limits.configure(settings.candidate_limit)
    clients.configure(
        most_connections=settings.client_connections,
        most_body_bytes=settings.client_body_mib << 20,
        trusted_proxies=settings.trusted_proxies,
    )
    app = connexion.FlaskApp(
        "hiring",
        middlewares=[one for one in ConnexionMiddleware.default_middlewares if one not in NOT_NEEDED],
        security_map=seats.SECURITY,
        validator_map=seats.VALIDATORS,
        server_args={"static_folder": None, "template_folder": None},
    )
    for name in document.NAMES:
        spec = document.bare(document.read(name))
        base = spec["servers"][0]["url"].rstrip("/")
        app.add_api(spec, base_path=base, resolver=seats.Handlers(spec), name=name)
    pipelines: seats.Pipelines = {}
    load, served = Load(), Served()
    outermost = MiddlewarePosition.BEFORE_EXCEPTION
    app.add_middleware(
        Entrance,
        outermost,
        trusted_proxies=settings.trusted_proxies,
        origin=links.origin(),
        refuse=refusals.answer,
    )
    app.add_middleware(Live, outermost, trusted_proxies=settings.trusted_proxies)
    app.add_middleware(
        Front,
        outermost,
        pipelines=pipelines,
        lanes=lanes.make(settings, load),
        reads=lanes.reads(settings.reads_at_once, load, served),
        changes=lanes.changes(settings.changes_at_once, load, served),
        fast=settings.fast_path,
    )
    app.add_middleware(seats.Count, MiddlewarePosition.BEFORE_VALIDATION, pipelines=pipelines)
    for kind in (Refusal, connexion.ProblemException, HTTPException, Exception):
        app.add_error_handler(kind, refusals.for_connexion)
    return app
