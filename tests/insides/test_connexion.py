"""What broke, in one sentence, when Connexion changes below us."""

from connexion import FlaskApp
from connexion.spec import Specification

import insides.connexion


def test_a_document_is_loaded_without_a_look_at_openapis_own_schema() -> None:
    insides.connexion.trust_documents()
    loaded = Specification.load({"openapi": "3.0.3", "paths": {}, "info": "what OpenAPI would never take"})
    assert loaded["paths"] == {}, "Connexion checks documents at the start again, by another way."


def test_the_chain_is_built_before_anybody_asks() -> None:
    app = FlaskApp("of its own")
    insides.connexion.build(app)
    assert app.middleware.middleware_stack, "Connexion builds its chain when the first one asks again."
