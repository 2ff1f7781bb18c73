"""What a GET returned is accepted by the PUT or PATCH beside it, and changes nothing."""

from typing import Any

import pytest

from tests.api import Api, Tenant
from tests.documents import Documented, operations
from tests.operations.rows import Ids, Row, ask
from tests.operations.table.every import each
from tests.operations.test_sync import everything

BASE = "/api/v1/public"
VERBS = ("update/", "replace/")
READS = {path: one for (method, path), one in operations("openapi").items() if method == "GET"}


def read(api: Api, operation: Documented, ids: Ids) -> Any:
    """What an operation changes, as its GET or its list shows it."""
    above = operation.path
    for verb in VERBS:
        above = above.removesuffix(verb)
    place = ""
    if above not in READS:  # it is read by the list that it is in
        above, _, place = above.removesuffix("/").rpartition("/")
        above += "/"
    shown = api.get(above.removeprefix(BASE).format(**ids)).json()
    if place:
        [shown] = [row for row in shown["results"] if row["id"] == ids[place.strip("{}")]]
    shown.pop("meta", None)
    return shown


def written(schema: dict[str, Any], shown: dict[str, Any]) -> dict[str, Any]:
    """What a request may say of it."""
    fields = schema["properties"]
    if "results" in shown:
        [(name, rows)] = [(name, one) for name, one in fields.items() if "properties" in one.get("items", ())]
        return {name: [written(rows["items"], row) for row in shown["results"]]}
    return {name: shown[name] for name in fields if name in shown}


@each(lambda operation: operation.method in ("PUT", "PATCH") and operation.path.startswith(BASE))
def test_what_was_read_can_be_sent_back(operation: Documented, row: Row, tenant: Tenant) -> None:
    api = tenant.live
    ids = row.state(api)
    ask(api, operation, row, ids)
    before, whole, told = read(api, operation, ids), everything(api), events(api)
    schema = operation.definition["requestBody"]["content"]["application/json"]["schema"]
    answer = ask(api, operation, row, ids, body=written(schema, before))
    assert answer.status_code == 200, answer.text
    assert read(api, operation, ids) == before
    assert everything(api) == whole  # whatever else shows it
    assert events(api) == told, "an event of a change that was none"


def events(api: Api) -> Any:
    return api.get("/events/", params={"page_size": 100}).json()["results"]


@pytest.mark.parametrize("change", [{"is_active": False}, None])
def test_the_requirements_of_a_question_that_went_can_be_sent_back(
    tenant: Tenant, change: dict[str, Any] | None
) -> None:
    api = tenant.live
    job = api.job()["slug"]
    field = api.post(
        f"/jobs/{job}/fields/", {"label": "Years", "key": "years", "field_type": "number"}
    ).json()
    years = {"kind": "years", "key": "work", "label": "Years", "min_years": 3, "field": "years"}
    api.put(f"/jobs/{job}/requirements/replace/", {"requirements": [years]})
    at = f"/jobs/{job}/fields/{field['id']}/"
    assert (api.patch(at, change) if change else api.delete(at)).is_success
    shown = api.get(f"/jobs/{job}/requirements/").json()["results"]
    assert len(shown) == (1 if change else 0)
    sent = {"requirements": [{name: one[name] for name in one if name != "id"} for one in shown]}
    answer = api.put(f"/jobs/{job}/requirements/replace/", sent)
    assert (answer.status_code, answer.json()) == (200, shown)
