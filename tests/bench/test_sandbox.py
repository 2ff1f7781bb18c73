"""What reading a CV costs is told by the process that reads it."""

import time

import pytest

from bench import sandbox
from gateways.cv import walled
from tests.cvs import latin


@pytest.mark.skipif(bool(walled.why_not()), reason=f"no walls here: {walled.why_not()}")
def test_the_cpu_of_a_pdf_is_that_of_its_reader() -> None:
    began = time.perf_counter()
    spent = sandbox._cpu_of_reading(latin.english_pdf().content)
    assert 1 < spent < 1000 * (time.perf_counter() - began)


def test_of_few_the_p95_is_the_longest_and_of_twenty_the_one_before() -> None:
    assert sandbox._late([4.0, 1.0, 3.0, 2.0]) == 4.0
    assert sandbox._late([float(number) for number in range(20)]) == 18.0
