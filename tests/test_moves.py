"""A status changes in store.events alone: with its stamp, `updated_at`, and the event that tells of it."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.test_house import short, sources

# The last refuses one.
MOVERS = {
    "store/events.py apply",
    "store/events.py _moving",
    "store/database/base.py Base",
}
# Columns of that name which are no state of a resource: nobody moves them, and no event is named for them.
NO_STATES = {
    "store/assessing/sessions.py SessionCase": "how right an answer is: a grade, given anew by each review",
    "store/applying/screened.py keep": "how far screening has come: it follows from what was found",
    "store/applying/screened.py anew": "the same: it begins once more",
    # A delivery carries an event and has none of its own; it has no updated_at, and thousands settle at once.
    "store/delivering/sending.py _SETTLE": "what came of attempts",
    "store/delivering/deliveries.py retry": "it is due again",
    "store/delivering/again.py _REPLAY": "they are due again",
    "store/applying/applying.py _complete": "what a new row has where nothing else is said",
    "store/accounts/idempotency.py keep": "the HTTP status of a kept answer",
    "store/accounts/idempotency.py forget": "the HTTP status of a kept answer",
    "store/people/merging.py merge": "the blanks of a profile, which has none",
    # An event would name whom nobody may name any more; what is open ends without one.
    "store/people/erasing.py ROWS": "what is taken out of everything about a person",
    "store/interviewing/visits.py join": "the moment at which a side came in",
    "store/operating/reencryption.py batch": "columns that are encrypted",
}
SQL = re.compile(
    r"\bset\b(?:(?!\b(?:from|where|returning)\b).)*?(?<![\w.])status\s*=", re.IGNORECASE | re.DOTALL
)


def may_be_status(name: ast.expr | None) -> bool:
    return not isinstance(name, ast.Constant) or name.value == "status"


def writes(node: ast.AST) -> bool:
    """Say whether this very node writes a column named status, or one whose name is not to be seen."""
    match node:
        case ast.Attribute(attr="status", ctx=ast.Store()):
            return True
        case ast.Call(func=ast.Name(id="setattr"), args=[_, name, _]):
            return may_be_status(name)
        case ast.Call(func=ast.Attribute(attr="values"), args=given, keywords=named):
            keys = [key for one in given for key in (one.keys if isinstance(one, ast.Dict) else [None])]
            return any(map(may_be_status, keys)) or any(one.arg in (None, "status") for one in named)
        case ast.Constant(value=str(text)):
            return bool(SQL.search(text))
    return False


def found(tree: ast.Module) -> Iterator[str]:
    """The functions, classes and statements of a module that write a status; rows are inserted with one."""
    for part in tree.body:
        target = part.targets[0] if isinstance(part, ast.Assign) else None
        name = part.name if isinstance(part, ast.FunctionDef | ast.ClassDef) else getattr(target, "id", "")
        inserts = {
            id(call)
            for call in ast.walk(part)
            if isinstance(call, ast.Call) and ast.unparse(call).startswith("insert(")
        }
        if any(writes(node) and id(node) not in inserts for node in ast.walk(part)):
            yield name


def test_no_status_is_written_outside_of_events() -> None:
    places = {
        f"{short(path)} {name}"
        for path in sources("store", "handlers", "workers")
        if "versions" not in path.parts
        for name in found(ast.parse(path.read_text()))
    }
    assert places - MOVERS == set(NO_STATES)


@pytest.mark.parametrize(
    "line",
    [
        "job.status = move.target",
        "job.status, job.closed_at = 'closed', now()",
        "setattr(job, 'status', 'open')",
        "session.execute(update(Job).values(status='open'))",
        "session.execute(update(Job).values({'status': 'open'}))",
        "session.execute(update(Job).values(given))",
        "session.execute(update(Job).values(**given))",
        "for name, value in given.items(): setattr(job, name, value)",
        "text('UPDATE jobs SET closed_at = now(), status = :status WHERE id = :id')",
        "text(f'UPDATE {table} AS job SET status = :status')",
    ],
)
def test_a_write_of_a_status_is_seen(line: str) -> None:
    assert list(found(ast.parse(f"def do():\n    {line}"))) == ["do"]


@pytest.mark.parametrize(
    "line",
    [
        "insert(Job).values(status='draft')",
        "update(Job).values(closed_at=now())",
        "list(found.values())",
        "select(Job).where(Job.status == 'draft')",
        "text('UPDATE jobs SET closed_at = now() WHERE status = :status')",
        "Job(status='draft')",
    ],
)
def test_a_read_or_a_new_row_is_none(line: str) -> None:
    assert list(found(ast.parse(f"def do():\n    {line}"))) == []
