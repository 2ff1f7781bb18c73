"""Every operation of the public document, tried from the reference as it is filled in, and run as its samples say."""

import subprocess
import sys

import pytest
from playwright.sync_api import Locator

from tests import nodes
from tests.documents import Documented, operations
from tests.reference.conftest import Reference

EVERY = list(operations("openapi").values())
PROGRAMS = {"curl": "sh", "Python": "py", "TypeScript": "ts"}


@pytest.mark.parametrize("operation", EVERY, ids=lambda one: one.id)
def test_an_operation_answers_the_first_try_and_its_samples_run(
    reference: Reference, operation: Documented
) -> None:
    shown = reference.open(operation.definition["tags"][0], operation.id)
    with reference.page.expect_response(lambda one: one.request.method == operation.method) as answered:
        shown.get_by_role("button", name="Execute").click()
    answer = answered.value
    assert answer.ok, (answer.request.url, answer.status, answer.text())
    if operation.method == "POST":
        assert len(answer.request.headers["idempotency-key"]) == 32
        assert "idempotent-replayed" not in answer.headers
    for language in PROGRAMS:
        if operation.method != "GET":
            reference.fill_anew(shown)
        status, printed = run(reference, shown, language)
        assert status == 0, (language, printed)


def run(reference: Reference, shown: Locator, language: str) -> tuple[int, str]:
    """Run what the page shows as a program; curl counts as failed where it was refused."""
    shown.get_by_role("button", name=language, exact=True).click()
    text = shown.locator("pre.sample").text_content() or ""
    path = reference.folder / f"sample.{PROGRAMS[language]}"
    path.write_text(text.replace("curl -sS", "curl -sS --fail-with-body"))
    command = {
        "curl": ["bash", "-e", str(path)],
        "Python": [sys.executable, str(path)],
        "TypeScript": [nodes.node() or "node", "--disable-warning=ExperimentalWarning", str(path)],
    }[language]
    done = subprocess.run(
        command, cwd=reference.folder, env=reference.environ, capture_output=True, timeout=60, check=False
    )
    return done.returncode, f"{text}\n{done.stdout[:2000]!r}\n{done.stderr[-2000:]!r}"
