"""The mutants are run seldom; that each still finds the place that it breaks is looked at every time."""

import pytest

from tests.mutants.run import ROOT
from tests.mutants.table import MUTANTS


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_finds_what_it_breaks_once(name: str) -> None:
    mutant = MUTANTS[name]
    assert (ROOT / mutant.file).read_text().count(mutant.old) == 1
    for test in mutant.seen_by.split():
        assert (ROOT / f"tests/operations/test_{test}.py").exists()
