"""The house rules, held by tests: what a reader of one part may believe of all the others."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema_rs
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from connexion import FlaskApp
from sqlalchemy import create_engine
from starlette.testclient import TestClient

import store.database.base
from app.http.formats import CHECKS
from app.http.once import IDEMPOTENCY_KEY
from app.http.paths import METHODS
from app.http.schema import draft4
from app.instance.settings import ROOT
from rules import errors, events, scopes
from rules.moves import Move
from rules.refusal import Refusal
from tests.documents import Documented, documents, operations

PACKAGES = ("app", "gateways", "handlers", "insides", "rules", "schemas", "store", "workers")
LONGEST = 310  # "about 300"
EVERY = [(name, one) for name in documents() for one in operations(name).values()]
PUBLIC = [one for name, one in EVERY if name == "openapi"]
KEYED = [one for one in PUBLIC if one.keyed]
ANY_KEY = {"get_key"}  # whatever its scopes are
# Whoever may read it may hand it on, and take it back.
SHOWN_ON = {"share_report", "revoke_shared_report"}
# A page's body is a form.
WITH_BODY = [(name, one) for name, one in EVERY if "requestBody" in one.definition and not one.is_page]
by_id = {"ids": lambda value: value.id if isinstance(value, Documented) else value}


def sources(*packages: str) -> Iterator[Path]:
    for package in packages or PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))


def short(path: Path) -> str:
    return str(path.relative_to(ROOT))


# --- Operations


@pytest.mark.parametrize(("name", "operation"), EVERY, **by_id)
def test_an_operation_has_one_tag_that_the_document_declares(name: str, operation: Documented) -> None:
    declared = [tag["name"] for tag in documents()[name]["tags"]]
    [tag] = operation.definition["tags"]
    assert tag in declared
    assert len(declared) == len(set(declared))
    assert all(one.get("description") for one in documents()[name]["tags"])


@pytest.mark.parametrize("operation", PUBLIC, **by_id)
def test_an_operation_has_one_scope_or_needs_no_key(operation: Documented) -> None:
    if operation.definition.get("security") == []:
        assert operation.definition["tags"] == ["document"]
    elif operation.id in ANY_KEY:
        assert operation.definition["security"] == [{"bearer": []}]
    else:
        [scope] = operation.scopes
        assert scope in scopes.SCOPES
        is_read = operation.method == "GET" or operation.id in SHOWN_ON
        assert scope == "test:write" if operation.of_tests_alone else scope.endswith(":read") == is_read


@pytest.mark.parametrize(("name", "operation"), EVERY, **by_id)
def test_an_operation_says_what_it_does(name: str, operation: Documented) -> None:
    definition = operation.definition
    assert re.fullmatch(r"[a-z]+(_[a-z]+)+", definition["operationId"])
    assert definition["summary"][0].isupper()
    assert not definition["summary"].endswith(".")
    assert definition["description"].rstrip().endswith(".")
    for parameter in operation.parameters:
        assert parameter["description"].rstrip().endswith("."), parameter["name"]
        assert "example" in parameter or "examples" in parameter, parameter["name"]


def test_ids_of_operations_differ() -> None:
    ids = [one.id for _, one in EVERY]
    assert len(ids) == len(set(ids))


ALWAYS = {"408", "431", "500"}  # of pages too, which ignore what is wrong with a request
REFUSALS = ALWAYS | {"400", "401", "403", "429", "503"}


@pytest.mark.parametrize(("name", "operation"), EVERY, **by_id)
def test_an_operation_names_what_any_request_may_be_answered(name: str, operation: Documented) -> None:
    assert set(operation.definition["responses"]) >= ALWAYS


@pytest.mark.parametrize("operation", KEYED, **by_id)
def test_an_operation_names_its_refusals(operation: Documented) -> None:
    promised = set(operation.definition["responses"])
    assert promised >= REFUSALS
    assert ("404" in promised) >= ("{" in operation.path)
    assert ({"413", "415"} <= promised) == ("requestBody" in operation.definition)
    for status, answer in operation.definition["responses"].items():
        headers = set(answer.get("headers", {}))
        assert "X-Request-Id" in headers, status
        assert ("Retry-After" in headers) == (status in ("429", "503")), status
        assert "X-RateLimit-Remaining" in headers or status >= "300", status


@pytest.mark.parametrize(("name", "operation"), EVERY, **by_id)
def test_every_body_has_an_example_and_every_example_fits(name: str, operation: Documented) -> None:
    contents = [operation.definition.get("requestBody", {}).get("content", {})]
    contents += [answer.get("content", {}) for answer in operation.definition["responses"].values()]
    for content in contents:
        for kind, one in content.items():
            if kind not in ("application/json", "multipart/form-data", "application/x-www-form-urlencoded"):
                continue
            given = [example["value"] for example in one.get("examples", {}).values()]
            given += [one["example"]] if "example" in one else []
            assert given or kind != "application/json", (operation.id, kind)
            validator = jsonschema_rs.Draft4Validator(
                draft4(one["schema"]), validate_formats=True, formats=CHECKS
            )
            for value in given:
                assert [fault.message for fault in validator.iter_errors(value)] == []
    for parameter in operation.parameters:
        if "example" in parameter:
            validator = jsonschema_rs.Draft4Validator(
                draft4(parameter["schema"]), validate_formats=True, formats=CHECKS
            )
            assert validator.is_valid(parameter["example"]), parameter["name"]


@pytest.mark.parametrize(("name", "operation"), WITH_BODY, **by_id)
def test_requests_are_closed_and_answers_are_open(name: str, operation: Documented) -> None:
    def closed(schema: dict[str, Any]) -> Iterator[bool]:
        if "properties" in schema:
            yield schema.get("additionalProperties") is False
        for child in [
            *schema.get("properties", {}).values(),
            *([schema["items"]] if "items" in schema else []),
        ]:
            yield from closed(child)

    content = operation.definition["requestBody"]["content"]
    assert (
        len({id(one["schema"]) for one in content.values()}) == 1
        or len({str(one["schema"]) for one in content.values()}) == 1
    )
    assert all(closed(next(iter(content.values()))["schema"]))
    for status, answer in operation.definition["responses"].items():
        schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
        assert "additionalProperties" not in schema or status >= "400"


# --- Handlers and routes


def modules(package: str) -> list[ModuleType]:
    return [
        importlib.import_module(f"{package}.{path.stem}")
        for path in sources(package)
        if path.stem != "__init__"
    ]


def test_handlers_hold_operations_and_nothing_else() -> None:
    wanted = {(one.definition["tags"][0], one.id) for _, one in EVERY}
    tags = {tag for tag, _ in wanted}
    found = set()
    for module in modules("handlers"):
        tag = module.__name__.partition(".")[2]
        assert tag in tags, f"{module.__name__} is nobody's tag"
        for name, value in vars(module).items():
            if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_"):
                found.add((tag, name))
    # What the pages share.
    helpers = {
        ("area", "act"),
        ("area", "check"),
        ("area", "show"),
        ("pages", "page"),
        ("pages", "brand"),
        ("pages", "faults"),
        ("sessions", "view"),
        ("rooms", "view"),
        ("applications", "apply"),
        ("sign_in", "welcome"),
        ("sign_in", "count"),
    }
    assert found - helpers == wanted


def test_handlers_ask_for_what_their_operation_has() -> None:
    for _, operation in EVERY:
        module = importlib.import_module(f"handlers.{operation.definition['tags'][0]}")
        signature = inspect.signature(getattr(module, operation.id)).parameters.values()
        given = {one["name"] for one in operation.parameters}
        given |= {"session", "reading", "readings", "writing", "alone", "begin", "finish"}
        given |= {"caller", "address", "call", "kept"}
        given |= {"body"} if "requestBody" in operation.definition else set()
        named = {one.name for one in signature if one.kind is not one.VAR_KEYWORD}
        assert named <= given, operation.id
        assert ("caller" in named) <= (operation.keyed or operation.by_session), operation.id
        if not any(one.kind is one.VAR_KEYWORD for one in signature):
            unread = {p["name"] for p in operation.parameters if p["in"] in ("path", "query")} - named
            assert not unread, f"{operation.id} never reads {unread}"


# Whose last transaction is that of who is played: the answer is kept in one of its own.
PLAYED = {"take_test_invitation", "make_test_applications", "play_test_interview", "answer_test_offer"}


def test_what_takes_a_key_keeps_its_answer_with_its_last_transaction() -> None:
    for operation in PUBLIC:
        module = importlib.import_module(f"handlers.{operation.definition['tags'][0]}")
        named = set(inspect.signature(getattr(module, operation.id)).parameters)
        if any(one["name"] == IDEMPOTENCY_KEY for one in operation.parameters):
            assert ("begin" in named) <= ("finish" in named) or operation.id in PLAYED, operation.id
            assert not {"session", "finish"} <= named, operation.id


def test_handlers_hold_no_try_and_no_status() -> None:
    for path in sources("handlers"):
        tree = ast.parse(path.read_text())
        assert not [node for node in ast.walk(tree) if isinstance(node, ast.Try) and node.handlers], short(
            path
        )


def test_every_route_is_in_a_document_and_the_other_way_round(app: FlaskApp, http: TestClient) -> None:
    served = set()
    for rule in app.app.url_map.iter_rules():
        if not rule.rule.startswith("/static/"):
            path = re.sub(r"<(?:[^:<>]+:)?([^<>]+)>", "{}", rule.rule)
            served |= {(method, path) for method in rule.methods - {"OPTIONS", "HEAD"}}
    documented = {(one.method, re.sub(r"\{[^}]+\}", "{}", one.path)) for _, one in EVERY}
    assert served == documented


def test_each_path_of_a_document_has_operations_alone() -> None:
    for name in documents():
        for path, item in documents()[name]["paths"].items():
            assert set(item) <= {*METHODS, "parameters"}, path


# --- Errors and events


def test_the_documents_codes_are_the_refusals() -> None:
    classes = [one for one in vars(errors).values() if inspect.isclass(one) and issubclass(one, Refusal)]
    refusals = {one.code: one for one in classes if one is not Refusal}
    assert len(refusals) == len(classes) - 1
    assert set(documents()["openapi"]["components"]["schemas"]["ErrorCode"]["enum"]) == set(refusals)
    for one in refusals.values():
        assert 400 <= one.status < 600
        assert one.message.endswith(".")
        assert one.__doc__


def test_every_example_of_an_error_is_what_its_refusal_says() -> None:
    classes = {
        one.code: one for one in vars(errors).values() if inspect.isclass(one) and hasattr(one, "code")
    }
    for _, operation in EVERY:
        for status, answer in operation.definition["responses"].items():
            for example in answer.get("content", {}).get("application/json", {}).get("examples", {}).values():
                if status >= "400" and operation.id != "get_readiness":  # it says what is missing instead
                    error = example["value"].get("error", example["value"])  # the assistant's are flat
                    assert classes[error["code"]].status == int(status), (operation.id, error["code"])


def test_only_refusals_of_the_catalogue_are_raised() -> None:
    ours = {name for name, one in vars(errors).items() if inspect.isclass(one)}
    fine = ours | {
        "RuntimeError",
        "ValueError",
        "TypeError",
        "KeyError",
        "NotImplementedError",
        "StopIteration",
    }
    for path in sources("handlers", "rules"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise) and node.exc is not None:
                call = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
                name = (
                    call.value.id
                    if isinstance(call, ast.Attribute) and isinstance(call.value, ast.Name)
                    else getattr(call, "id", "")
                )
                assert name in fine or not name[:1].isupper(), f"{short(path)}:{node.lineno} raises {name}"


def recorded() -> set[str]:
    """The events that moves name, and those that are recorded by their name."""
    found = set()
    for module in modules("rules"):
        for moves in vars(module).values():
            if isinstance(moves, dict):
                found |= {move.event for move in moves.values() if isinstance(move, Move) and move.event}
    for path in sources("handlers", "store", "workers"):
        for node in ast.walk(ast.parse(path.read_text())):
            name = (
                node.func.attr
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
                else None
            )
            if name == "record":
                found |= {
                    one.value
                    for one in ast.walk(node.args[1])
                    if isinstance(one, ast.Constant) and isinstance(one.value, str)
                }  # type: ignore[union-attr]
    return found


def test_every_event_that_is_emitted_is_in_the_catalogue() -> None:
    assert recorded() <= set(events.EVENTS)
    assert recorded() >= {
        "assessment.started", "assessment.completed", "candidate.passed", "candidate.failed", "candidate.violation",
        "invitation.created", "invitation.expired",
    }  # fmt: skip


# --- Tables and migrations


def test_the_models_are_what_the_migrations_make(database_url: str) -> None:
    for path in sources("store"):
        if "migrations" not in path.parts and "catalogue" not in path.parts and path.stem != "__init__":
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    engine = create_engine(database_url.replace("postgresql://", "postgresql+psycopg://", 1))
    try:
        with engine.connect() as connection:
            context = MigrationContext.configure(connection, opts={"compare_type": True})
            assert compare_metadata(context, store.database.base.Base.metadata) == []
    finally:
        engine.dispose()


def test_migrations_are_numbered_and_follow_each_other() -> None:
    folder = ROOT / "store" / "migrations" / "versions"
    files = sorted(path for path in folder.glob("*.py") if path.stem != "__init__")
    before = None
    for number, path in enumerate(files, start=1):
        assert re.fullmatch(rf"{number:04}_[a-z0-9_]+", path.stem), path.name
        text = path.read_text()
        named = {
            node.targets[0].id if isinstance(node,
            ast.Assign) else node.target.id: ast.literal_eval(node.value)  # type: ignore[union-attr]
            for node in ast.parse(text).body
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
            and isinstance(node.value, ast.Constant)
        }  # fmt: skip
        assert (named["revision"], named["down_revision"]) == (f"{number:04}", before), path.name
        before = named["revision"]


# --- The code


def test_commit_is_said_in_one_place() -> None:
    said = {short(path) for path in sources() if re.search(r"\.commit\(", path.read_text())}
    assert said == {"store/transactions.py"}


def test_only_app_reads_the_environment() -> None:
    for path in sources(*(one for one in PACKAGES if one != "app")):
        for node in ast.walk(ast.parse(path.read_text())):
            name = (
                node.attr
                if isinstance(node, ast.Attribute)
                else node.id
                if isinstance(node, ast.Name)
                else ""
            )
            assert name not in ("environ", "getenv", "environb"), f"{short(path)}:{node.lineno}"


def test_reasons_stand_above_what_they_are_for() -> None:
    """A comment after a bracket that closes a longer statement is of nobody knows which line."""
    left = re.compile(r"^\s*[\])}][\])},:]*  # (?!fmt:|type:|noqa)")
    found = [
        f"{short(path)}:{number}"
        for path in sources()
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if left.match(line)
    ]
    assert found == []


def test_files_stay_short() -> None:
    long = {
        short(path): n
        for path in sources()
        if (n := path.read_text().count("\n")) > LONGEST and "versions" not in path.parts
    }
    assert long == {}


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        if isinstance(node, ast.ImportFrom):
            found |= {node.module or ""} | {f"{node.module}.{name.name}" for name in node.names}
    return found


# Who alone may know a library: beside the layers, which import-linter holds.
ALONE = {
    "redis": {"store", "app", "workers"}, "psycopg": {"store", "workers", "app"}, "sqlalchemy": {"store",
    "handlers", "app", "workers"},
    "connexion": {"app"}, "starlette": {"app"}, "werkzeug": {"app"}, "uvicorn": {"app"}, "flask": {"app", "handlers"},
    "marshmallow": {"schemas"}, "nh3": {"schemas"}, "email_validator": {"schemas"}, "alembic": {"store"},
    "dramatiq": {"workers", "app"}, "smtplib": {"gateways"}, "httpcore": {"gateways"}, "subprocess": {"app",
    "gateways"},
    "socket": {"app", "gateways", "store", "workers"}, "click": {"app"}, "rich": {"app"}, "cryptography": {"store"},
}  # fmt: skip


@pytest.mark.parametrize("library", ALONE)
def test_a_library_is_known_where_it_belongs(library: str) -> None:
    users = {
        path.relative_to(ROOT).parts[0]
        for path in sources(
            *(one for one in PACKAGES if one != "insides")
        )  # who know all that they reach into
        if library in {one.split(".")[0] for one in imports(path)}
    }
    assert users <= ALONE[library]


def test_rules_know_no_time_of_day_and_no_chance_of_their_own() -> None:
    for path in sources("rules"):
        text = path.read_text()
        if path.stem != "clock":
            assert "datetime.now" not in text, short(path)
            assert "time.time" not in text, short(path)


# What a request does of what workers do: it lets time pass and shows a mail, and it pings an endpoint.
MET = {
    "handlers/test_world.py": {"workers", "workers.advancing", "workers.mail"},
    "handlers/webhooks.py": {"workers", "workers.posting"},
}


def test_workers_know_no_handlers_and_two_handlers_a_few_workers() -> None:
    for path in sources("workers"):
        assert not [one for one in imports(path) if one.split(".")[0] == "handlers"], short(path)
    met = {
        short(path): {one for one in imports(path) if one.split(".")[0] == "workers"}
        for path in sources("handlers")
    }
    assert {path: workers for path, workers in met.items() if workers} == MET


def test_every_module_says_what_it_is() -> None:
    for path in sources():
        tree = ast.parse(path.read_text())
        assert not tree.body or ast.get_docstring(tree), short(path)


def test_tests_are_sentences_in_the_present() -> None:
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                assert node.name.count("_") >= 3, f"{short(path)}: {node.name}"


# --- Scripts


def test_no_request_of_a_script_waits_for_ever() -> None:
    ours = [*(ROOT / "static" / "src").glob("*.js"), *(ROOT / "static").glob("take*.js")]
    ours += [
        ROOT / "static" / name for name in ("careers.js", "passkeys.js", "reference.js", "reference-needs.js")
    ]
    found = []
    for script in ours:
        for asked in re.finditer(r"\bfetch\((?!request\))", script.read_text()):
            found.append(short(script))
            assert "AbortSignal.timeout" in asked.string[asked.end() : asked.end() + 600], short(script)
    assert len(found) >= 6
