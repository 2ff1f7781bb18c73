"""One portable document of the parts under `spec/`: the service reads it, the tests do, and it is published."""

import re
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

import yaml

# Where an entry names what stands in a part, and the bundle has it in its place.
PLACES = ("paths", "x-events")


def bundle(entry: Path) -> dict[str, Any]:
    """Return an entry with what it names in place, and every component that it reaches, by section and name.

    Raises ValueError where two parts have a component of one name, KeyError where a part lacks what is named.
    """
    components: dict[str, dict[str, Any]] = {}
    homes: dict[tuple[str, str], Path] = {}

    def look_up(reference: str, here: Path) -> tuple[Path, list[str], Any]:
        file, _, pointer = reference.partition("#/")
        there, words = (here.parent / file).resolve() if file else here, pointer.split("/")
        value = _read(there)
        for word in words:
            value = value[word]
        return there, words, value

    def refer(reference: str, here: Path) -> str:
        there, (_, section, name), value = look_up(reference, here)
        if homes.setdefault((section, name), there) != there:
            raise ValueError(f"{there.name} and {homes[section, name].name} both have {section}/{name}")
        if name not in components.setdefault(section, {}):
            components[section][name] = {}  # before its value, which may lead back to it
            components[section][name] = copy(value, there)
        return f"#/components/{section}/{name}"

    def copy(value: Any, here: Path) -> Any:
        if isinstance(value, list):
            return [copy(one, here) for one in value]
        if not isinstance(value, dict):
            return value
        return {name: refer(one, here) if name == "$ref" else copy(one, here) for name, one in value.items()}

    def put(named: dict[str, Any]) -> Any:
        there, _, value = look_up(named["$ref"], entry)
        return copy(value, there)

    entry = entry.resolve()
    components.update(copy(_read(entry).get("components", {}), entry))
    document = {
        name: {key: put(one) for key, one in value.items()} if name in PLACES else copy(value, entry)
        for name, value in _read(entry).items()
    }
    ordered = {section: dict(sorted(named.items())) for section, named in sorted(components.items())}
    return {**document, "components": ordered}


@cache
def _read(path: Path) -> dict[str, Any]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document: dict[str, Any] = yaml.load(path.read_bytes(), Loader=loader)
    return document


def write(document: dict[str, Any]) -> str:
    """Write a document as YAML that every reader takes for the same data."""
    return yaml.dump(document, Dumper=_Portable, sort_keys=False, allow_unicode=True, width=float("inf"))


class _Portable(yaml.SafeDumper):
    """No anchors, and quotes around whatever some reader could take for something other than a text."""

    # Names and words. What begins with a digit or a sign may be a number, a date, a time or a value of YAML 1.1.
    plain = re.compile(r"[A-Za-z$][A-Za-z0-9_./-]*( [A-Za-z0-9_./();-]+)*", re.ASCII)
    reserved = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null"])
    widest = 100

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def text(self, data: str) -> yaml.ScalarNode:
        plain = self.plain.fullmatch(data) and data.lower() not in self.reserved
        if not all(line.isprintable() for line in data.split("\n")):
            style = '"'  # escaped: what ends a line differs from one reader to the next
        else:
            style = "" if plain else "|" if data.endswith("\n") else "'"
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)

    def mapping(self, data: dict[str, Any]) -> yaml.MappingNode:
        return self.represent_mapping("tag:yaml.org,2002:map", data, flow_style=self.short(data.values()))

    def sequence(self, data: list[Any]) -> yaml.SequenceNode:
        return self.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=self.short(data))

    def short(self, values: Collection[Any]) -> bool:
        """Whether values fit into one line, beside each other."""
        return not any(isinstance(one, (dict, list)) for one in values) and len(str(values)) <= self.widest


_Portable.add_representer(str, _Portable.text)
_Portable.add_representer(dict, _Portable.mapping)
_Portable.add_representer(list, _Portable.sequence)
