"""The catalogue, and the organisation's own cases."""

from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from gateways import sandbox
from rules import cases as rules
from rules.caller import Caller
from rules.clock import now
from rules.pages import Page
from schemas import cases as schemas
from store.assessing import cases
from store.database.engine import Reading

Body = dict[str, Any]


def list_platform_cases(reading: Reading, caller: Caller, **query: Any) -> Page:
    """List the catalogue by case number, and the languages that there are."""
    page = cases.PLATFORM.page(reading, caller, **query).map(schemas.platform_case)
    return page.beside(languages=sandbox.installed())


def list_cases(reading: Reading, caller: Caller, **query: Any) -> Page:
    """List the organisation's own cases, newest first."""
    return cases.LIST.page(reading, caller, **query).map(schemas.detail)


def get_case(session: Session, caller: Caller, id: UUID) -> Body:
    """Show one case."""
    return schemas.detail(cases.get(session, caller, id))


def create_case(session: Session, caller: Caller, body: Body) -> Body:
    """Make a case that can be answered and graded."""
    content = {"answer_number": None, "tolerance": None, "language": None, "languages": [], **_plain(body)}
    rules.check(content)
    return schemas.detail(cases.create(session, caller, content))


def update_case(session: Session, caller: Caller, id: UUID, body: Body) -> Body:
    """Change a case; what it becomes must still be one."""
    case, body = cases.get(session, caller, id, for_update=True), _plain(body)
    content = {name: getattr(case, name) for name in rules.CHECKED}
    rules.check({**content, **body})
    case.change(body)
    session.flush()
    return schemas.detail(case)


def _plain(body: Body) -> Body:
    """Write the tests' weights as they are kept: in JSON, which has no decimals."""
    if "test_cases" not in body:
        return body
    tests = [test | {"weight": float(test.get("weight", 1))} for test in body["test_cases"]]
    return body | {"test_cases": tests}


def delete_case(session: Session, caller: Caller, id: UUID) -> None:
    """Take a case out of lists and new attachments."""
    cases.get(session, caller, id).deleted_at = now()
