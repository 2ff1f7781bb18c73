"""The pages that explain: error codes, guides, the changelog of the API; what links to them and where they lead."""

import json
import re
from pathlib import Path

import jsonschema_rs
import pytest
from starlette.testclient import TestClient

from app.http.schema import draft4
from app.instance.settings import ROOT
from rules import errors
from rules.refusal import Refusal
from tests.api import Tenant
from tests.browser.pictures import NAMES
from tests.documents import documents, operations

DOCS = ROOT / "docs"
ERRORS = sorted((DOCS / "errors").glob("*.md"))
EVENTS = DOCS / "events.md"
SERVED = [*ERRORS, *sorted((DOCS / "guides").glob("*.md")), EVENTS, DOCS / "api-changelog.md"]
REFUSALS = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, Refusal) and kind is not Refusal
}


def address(path: Path) -> str:
    if path == EVENTS:
        return "/docs/guides/event-types/"
    return f"/docs/{path.relative_to(DOCS).with_suffix('').as_posix().removesuffix('/README')}/"


def test_every_code_of_the_document_has_its_page_and_no_other_is_there() -> None:
    codes = documents()["openapi"]["components"]["schemas"]["ErrorCode"]["enum"]
    assert [path.stem for path in ERRORS] == sorted(codes)


@pytest.mark.parametrize("path", ERRORS, ids=lambda path: path.stem)
def test_an_error_page_says_what_the_service_says(path: Path) -> None:
    text, refusal = path.read_text(), REFUSALS[path.stem]
    assert text.startswith(f"# {path.stem}\n\nStatus **{refusal.status}**: {refusal.message}\n")
    assert re.findall(r"^## (.+)", text, re.M) == ["What it means", "How to mend it", "Example"]
    (block,) = re.findall(r"^```json\n(.+?)^```$", text, re.M | re.S)
    example = json.loads(block)
    error = example.get("error", example)  # the assistant's are flat
    assert (error["code"], error["message"]) == (path.stem, refusal.message)
    assert error is example or error["details"]["documentation_url"].endswith(address(path))
    name = "AssistantError" if error is example else "Error"
    schema = draft4(documents()["openapi"]["components"]["schemas"][name])
    jsonschema_rs.Draft4Validator(schema).validate(example)


@pytest.mark.parametrize("path", SERVED, ids=address)
def test_a_page_is_served_and_its_links_lead_somewhere(http: TestClient, path: Path) -> None:
    page = http.get(address(path))
    assert page.status_code == 200
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert f"<title>{path.read_text().partition(chr(10))[0].removeprefix('# ')}</title>" in page.text
    for link in set(re.findall(r'href="(/docs/[^"]*)"', page.text)):
        assert http.get(link).status_code == 200, link
    _, _, shown = page.text.partition("<body")
    assert '.md"' not in shown


def test_every_guide_is_on_the_index_and_every_code_in_the_guide_on_errors(http: TestClient) -> None:
    listed = {path: "/docs/guides/errors/" if path in ERRORS else "/docs/guides/" for path in SERVED}
    assert [
        path for path, index in listed.items() if f'href="{address(path)}"' not in http.get(index).text
    ] == []  # fmt: skip


@pytest.mark.parametrize("path", SERVED, ids=address)
def test_a_page_has_its_markdown_for_machines(http: TestClient, path: Path) -> None:
    said = address(path).rstrip("/") + ".md"
    assert f'<link rel="alternate" type="text/markdown" href="{said}">' in http.get(address(path)).text
    text = http.get(said)
    assert text.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert text.text.partition("\n")[0] == path.read_text().partition("\n")[0]
    for link in set(re.findall(r"\]\((/docs/[^)#]+)\)", text.text)):
        assert http.get(link).status_code == 200, link
    assert f"({said})" in http.get("/llms.txt").text


def test_machines_find_the_documents_in_the_list_of_pages(http: TestClient) -> None:
    listed = http.get("/llms.txt")
    assert listed.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert listed.text.startswith("# ")
    for link in re.findall(r"\]\((/[^)]+)\)", listed.text):
        assert http.get(link).status_code == 200, link


def test_a_release_can_be_cut_from_the_changelog() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    versions = re.findall(r"^## (.+)$", text, re.M)
    assert versions[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", one) for one in versions[1:])
    kinds = re.findall(r"^### (.+)$", text, re.M)
    assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_changelog_names_every_operation_of_the_document() -> None:
    told = (DOCS / "api-changelog.md").read_text()
    assert [one.id for one in operations("openapi").values() if f"`{one.id}`" not in told] == []


def test_the_reference_leads_to_the_guides(http: TestClient) -> None:
    assert 'href="/docs/guides/"' in http.get("/docs/").text


@pytest.mark.parametrize("path", ["/docs/errors/NO_SUCH_CODE/", "/docs/guides/none/", "/docs/guides/README/"])
def test_an_unknown_page_is_a_page_too(http: TestClient, path: str) -> None:
    page = http.get(path)
    assert page.status_code == 404
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"


def test_nothing_else_of_the_disk_is_served(http: TestClient) -> None:
    for name in ("..%2Ferrors%2FNOT_FOUND", "..%2F..%2FREADME", "%2Fetc%2Fpasswd"):
        assert http.get(f"/docs/guides/{name}/").status_code in (400, 404)


def test_a_refusal_leads_to_the_page_of_its_code(http: TestClient, tenant: Tenant) -> None:
    refused = [
        http.get("/api/v1/public/org/"),
        tenant.live.get("/invites/unknown/"),
        tenant.live.post("/assessments/create/", {}),
        tenant.live.get("/assessments/", params={"page_size": 0}),
        http.delete("/api/v1/public/org/"),
        http.get("/api/v1/candidate/invites/unknown/"),
    ]
    for answer in refused:
        error = answer.json()["error"]
        assert error["details"]["documentation_url"] == f"http://testserver/docs/errors/{error['code']}/"
        page = http.get(error["details"]["documentation_url"])
        assert page.status_code == 200
        assert f"<h1>{error['code']}</h1>" in page.text


def test_the_readme_shows_every_picture_that_is_taken_and_no_other() -> None:
    readme = (ROOT / "README.md").read_text()
    shown = set(re.findall(r"docs/images/([a-z-]+)\.png", readme))
    assert shown == NAMES == {path.stem for path in (ROOT / "docs" / "images").iterdir()}
