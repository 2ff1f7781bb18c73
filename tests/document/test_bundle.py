"""The parts are one document, and every reader of YAML takes it for the same data."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from schemas import document
from tests.document import lint
from tests.document.bundle import bundle, write
from tests.document.generate import ROOT

SPEC = ROOT / "spec"
PARTS = sorted([*SPEC.glob("*.yaml"), *SPEC.glob("candidate/*.yaml")])
PUBLISHED = [document.PUBLISHED / f"{name}.yaml" for name in document.NAMES]
# Each word of the command line is a file and is answered with what it holds, as JSON; a warning is a fault here.
NPM_YAML = """
const [version, ...files] = process.argv.slice(1)
console.log(JSON.stringify(files.map(file => {
  const read = require('yaml').parseDocument(require('fs').readFileSync(file, 'utf8'), {version})
  for (const found of [...read.errors, ...read.warnings]) throw found
  return read.toJS()
})))
"""
AMBIGUOUS = [
    *("y", "N", "yes", "No", "on", "OFF", "true", "False", "null", "Null", "~", "", " a ", "a ", "\t", "a\tb", "\n"),
    *("1", "+1", "-1", "1.0", "1e3", ".5", "1_000", "017", "0o17", "0x1F", "0b1", "1:20", "190:20:30", ".inf", "NaN"),
    *("2026-11-21", "2026-11-21T10:00:00Z", "12e03", "=", "<<", "#a", "a #b", "a: b", "a:", "- a", "-", "? a", "?"),
    *("@a", "`a", "%a", "!a", "&a", "*a", "|", ">", "[a", "a]", "{a}", "a, b", "'", '"', "it's", "é", "\u2028", "\\n"),
    *("a\nb", "a\nb\n", " a\nb\n", "a\n\n", "a \nb\n", "---", "...", "\x00", "\U0001f600", "word", "two words"),
]  # fmt: skip


@pytest.fixture(scope="module")
def tools() -> tuple[str, dict[str, str]]:
    """Node, and the environment in which it finds the npm packages."""
    return lint.ready()


def npm_reads(tools: tuple[str, dict[str, str]], version: str, files: list[Path]) -> list[Any]:
    own, environ = tools
    asked = [own, "-e", NPM_YAML, version, *files]
    run = subprocess.run(asked, cwd=lint.HERE, env=environ, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return list(json.loads(run.stdout))


def same(one: Any, other: Any) -> bool:
    """Whether two readings are equal in type too: neither "1" nor true is 1, though 1.0 is, as JavaScript has it."""
    return _plain(one) == _plain(other)


def _plain(value: Any) -> str:
    def number(text: str) -> float:
        return int(float(text)) if float(text).is_integer() else float(text)

    return json.dumps(json.loads(json.dumps(value), parse_float=number), sort_keys=True)


@pytest.mark.parametrize("version", ["1.1", "1.2"])
def test_every_reader_takes_a_file_for_the_same_data(tools: tuple[str, dict[str, str]], version: str) -> None:
    files = PARTS + PUBLISHED
    for path, other in zip(files, npm_reads(tools, version, files), strict=True):
        assert same(yaml.load(path.read_text(), Loader=yaml.CSafeLoader), other), path


@pytest.mark.parametrize("path", PARTS + PUBLISHED, ids=lambda path: str(path.relative_to(SPEC)))
def test_so_do_both_readers_of_python(path: Path) -> None:
    text = path.read_text()
    assert same(yaml.load(text, Loader=yaml.CSafeLoader), yaml.load(text, Loader=yaml.SafeLoader))


@pytest.mark.parametrize("name", document.NAMES)
def test_the_yaml_says_what_the_json_says(name: str) -> None:
    said = (document.PUBLISHED / f"{name}.json").read_bytes()
    read = yaml.load((document.PUBLISHED / f"{name}.yaml").read_text(), Loader=yaml.CSafeLoader)
    assert same(read, json.loads(said))


@pytest.mark.parametrize("path", PARTS + PUBLISHED, ids=lambda path: str(path.relative_to(SPEC)))
def test_a_file_has_no_anchors_aliases_and_merge_keys(path: Path) -> None:
    for token in yaml.scan(path.read_text(), Loader=yaml.CSafeLoader):
        assert not isinstance(token, (yaml.AnchorToken, yaml.AliasToken, yaml.TagToken)), token.start_mark
        assert not isinstance(token, yaml.ScalarToken) or token.value != "<<", token.start_mark


@pytest.mark.parametrize("version", ["1.1", "1.2"])
def test_a_text_stays_a_text(tools: tuple[str, dict[str, str]], version: str, tmp_path: Path) -> None:
    said = {
        "texts": AMBIGUOUS,
        "long": [["a" * 200], *([one] for one in AMBIGUOUS)],
        "keys": dict.fromkeys(AMBIGUOUS, 1),
    }
    said |= {
        "none": None,
        "numbers": [0, -1, 1.5, 10_000_000_000],
        "truths": [True, False],
        "empty": [{}, []],
    }
    path = tmp_path / "texts.yaml"
    path.write_text(write(said))
    assert same(npm_reads(tools, version, [path]), [said])
    for loader in (yaml.SafeLoader, yaml.CSafeLoader):
        assert same(yaml.load(path.read_text(), Loader=loader), said)


@pytest.mark.parametrize("name", document.NAMES)
def test_a_stock_tool_bundles_the_same(name: str, tools: tuple[str, dict[str, str]], tmp_path: Path) -> None:
    own, environ = tools
    asked = [own, lint.REDOCLY, "bundle", SPEC / f"{name}.yaml", "-o", tmp_path / "bundle.json"]
    run = subprocess.run(asked, cwd=lint.HERE, env=environ, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    theirs, ours = json.loads((tmp_path / "bundle.json").read_text()), bundle(SPEC / f"{name}.yaml")
    # Events stand where OpenAPI 3.0 has no place, so they are not followed by it.
    own_events, _ = theirs.pop("x-events", None), ours.pop("x-events", None)
    for section, components in ours["components"].items():
        for component in components.keys() - theirs["components"][section].keys():
            assert own_events, f"{section}/{component}"
            assert component.startswith("Event"), component
            theirs["components"][section][component] = components[component]
    assert same(theirs, ours)


@pytest.mark.parametrize("path", PARTS, ids=lambda path: str(path.relative_to(SPEC)))
def test_whatever_stands_in_a_part_is_in_the_document(path: Path) -> None:
    part = yaml.safe_load(path.read_text())
    whole = document.read(
        next((one for one in document.NAMES if one in (path.stem, path.parent.name)), "openapi")
    )
    operations = {
        one["operationId"]
        for item in whole["paths"].values()
        for one in item.values()
        if "operationId" in one
    }
    for section, components in part.get("components", {}).items():
        assert components.keys() <= whole["components"][section].keys(), section
    for item in part.get("paths", {}).values():
        assert {one["operationId"] for one in item.values() if "operationId" in one} <= operations
    assert part.get("x-events", {}).keys() <= whole.get("x-events", {}).keys()


@pytest.mark.parametrize("name", document.NAMES)
def test_an_operation_stands_in_the_part_of_its_tag(name: str) -> None:
    entry = yaml.safe_load((SPEC / f"{name}.yaml").read_text())
    for path, item in document.read(name)["paths"].items():
        file, _, _ = entry["paths"][path]["$ref"].partition("#")
        tags = {one["tags"][0] for one in item.values() if isinstance(one, dict)}
        assert tags == {Path(file).stem}, path


def test_two_components_of_one_name_are_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        path = {"get": {"$ref": "#/components/schemas/Same"}}
        part = {"paths": {"it": path}, "components": {"schemas": {"Same": {"title": name}}}}
        (tmp_path / f"{name}.yaml").write_text(write(part))
    entry = {"paths": {f"/{name}": {"$ref": f"{name}.yaml#/paths/it"} for name in ("a", "b")}}
    (tmp_path / "entry.yaml").write_text(write(entry))
    with pytest.raises(ValueError, match="schemas/Same"):
        bundle(tmp_path / "entry.yaml")


def test_a_component_may_lead_back_to_itself(tmp_path: Path) -> None:
    node = {"properties": {"child": {"$ref": "#/components/schemas/Node"}}}
    (tmp_path / "part.yaml").write_text(write({"components": {"schemas": {"Node": node}}}))
    (tmp_path / "entry.yaml").write_text(write({"x-it": {"$ref": "part.yaml#/components/schemas/Node"}}))
    assert bundle(tmp_path / "entry.yaml") == {
        "x-it": {"$ref": "#/components/schemas/Node"},
        "components": {"schemas": {"Node": node}},
    }
