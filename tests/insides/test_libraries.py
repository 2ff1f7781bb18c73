"""The libraries are as they were when somebody looked inside."""

import importlib
import importlib.metadata
import pkgutil
import tomllib
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import insides
from app.instance.settings import ROOT

MODULES = [importlib.import_module(f"insides.{one.name}") for one in pkgutil.iter_modules(insides.__path__)]
LEANING = [(module, file, line) for module in MODULES for file, line in module.LEANS_ON]


@pytest.mark.parametrize("module", MODULES, ids=lambda one: one.__name__)
def test_the_installed_version_is_one_that_was_read(module: ModuleType) -> None:
    bound = Requirement(module.BOUND)
    installed = importlib.metadata.version(bound.name)
    assert bound.specifier.contains(installed), (
        f"{bound.name} is {installed} now, and {module.__name__} was written for {bound.specifier}: look at the lines"
        " it leans on, then move the bound."
    )


@pytest.mark.parametrize("module", MODULES, ids=lambda one: one.__name__)
def test_no_other_version_is_installed_with_the_project(module: ModuleType) -> None:
    bound = Requirement(module.BOUND)
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    [asked] = [one for one in map(Requirement, wanted) if one.name == bound.name]
    assert asked.specifier == SpecifierSet(str(bound.specifier)), (
        f"pyproject.toml asks for {asked}, not {bound}."
    )


@pytest.mark.parametrize(("module", "file", "line"), LEANING)
def test_the_line_that_is_leaned_on_still_stands(module: ModuleType, file: str, line: str) -> None:
    distribution = importlib.metadata.distribution(Requirement(module.BOUND).name)
    text = distribution.locate_file(file).read_text()  # type: ignore[attr-defined]  # a path, of files on a disk
    assert line in text, f"{file} says no longer {line!r}, which {module.__name__} leans on."
