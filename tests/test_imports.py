"""No module needs itself, by whatever way round: in the head of a file, inside a function, or by name in a string."""

import ast
import graphlib
import re
from collections.abc import Iterator

from tests.test_house import PACKAGES, ROOT, sources

MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sources()
}
NAME = re.compile(rf"\b(?:{'|'.join(PACKAGES)})(?:\.\w+)+")


def named(tree: ast.Module) -> Iterator[str]:
    """Everything that a module imports or names, but for what its docstrings tell of."""
    told = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{one.name}" for one in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in told:
            yield from NAME.findall(node.value)


def module(name: str) -> str | None:
    """The module that a name is, or is in."""
    while name not in MODULES and "." in name:
        name = name.rpartition(".")[0]
    return name if name in MODULES else None


def needs(source: str) -> dict[str, set[str]]:
    found = {module(name) for name in named(ast.parse(MODULES[source].read_text()))}
    return {source: {one for one in found if one} - {source}}


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph: dict[str, set[str]] = {}
    for source in MODULES:
        graph |= needs(source)
    assert len(graph) > 200
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def test_an_import_counts_wherever_it_stands() -> None:
    tree = ast.parse(
        '"""Of rules.clock."""\ndef f():\n    import rules.errors\n    run("-m", "gateways.cv.child")'
    )
    assert set(named(tree)) == {"rules.errors", "gateways.cv.child"}
    assert "gateways.cv.child" in needs("gateways.cv.orders")["gateways.cv.orders"]
    assert module("rules.errors.Invalid") == "rules.errors"


def test_a_folder_of_app_and_store_reads_as_a_table_of_contents() -> None:
    folders: dict[str, set[str]] = {}
    for path in sources("app", "store"):
        # Migrations are looked up by number, and no package's own file is content.
        if "versions" not in path.parts and path.name != "__init__.py":
            inside = path.relative_to(ROOT)
            for parent in list(inside.parents)[:-1]:
                folders.setdefault(str(parent), set()).add(inside.relative_to(parent).parts[0])
    assert {name: len(found) for name, found in folders.items() if len(found) > 20} == {}
