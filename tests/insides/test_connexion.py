"""What broke, in one sentence, when Connexion changes below us."""

import subprocess
import sys

from connexion import FlaskApp
from connexion.spec import Specification

import insides.connexion
from app.instance.settings import ROOT


def test_a_document_is_loaded_without_a_look_at_openapis_own_schema() -> None:
    insides.connexion.trust_documents()
    loaded = Specification.load({"openapi": "3.0.3", "paths": {}, "info": "what OpenAPI would never take"})
    assert loaded["paths"] == {}, "Connexion checks documents at the start again, by another way."


def test_the_chain_is_built_before_anybody_asks() -> None:
    app = FlaskApp("of its own")
    insides.connexion.build(app)
    assert app.middleware.middleware_stack, "Connexion builds its chain when the first one asks again."


def test_what_is_never_reached_is_not_loaded_and_there_for_whoever_loads_it() -> None:
    code = """
import sys, insides.connexion, app.http.application
assert not {"starlette.testclient", "requests", "icalendar", "docx"} & set(sys.modules), "it is loaded after all"
from starlette.testclient import TestClient
import requests
assert requests.get and TestClient.get
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_who_wants_what_was_left_out_is_told_what_to_do() -> None:
    code = "from insides.connexion import FlaskApp; FlaskApp('of its own').test_client()"
    ended = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=ROOT
    )
    assert "import it before insides.connexion" in ended.stderr
