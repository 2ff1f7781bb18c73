"""Who rests after a failure, and for how long."""

import time

import pytest

from workers import rests


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The moment, which only moves when it is set."""
    moment = [1_000.0]
    monkeypatch.setattr(time, "monotonic", lambda: moment[0])
    monkeypatch.setattr(rests, "_over", 0.0)
    return moment


def test_they_rest_one_after_another(clock: list[float]) -> None:
    assert [rests.after(0.1) for _ in range(3)] == pytest.approx([0.1, 0.2, 0.3])
    clock[0] += 0.25
    assert rests.after(0.1) == pytest.approx(0.15)


def test_who_comes_when_nobody_rests_waits_for_nobody(clock: list[float]) -> None:
    rests.after(0.1)
    clock[0] += 10
    assert rests.after(0.1) == pytest.approx(0.1)


def test_others_make_nobodys_rest_much_longer_however_many_fail(clock: list[float]) -> None:
    assert max(rests.after(0.1) for _ in range(1_000)) <= rests.LONGEST + 0.1
    clock[0] += rests.LONGEST + 0.1
    assert rests.after(0.1) == pytest.approx(0.1)


def test_of_many_that_fail_together_not_all_go_on_together(clock: list[float]) -> None:
    ends = [rests.after(0.1) for _ in range(100)]
    assert (
        sum(end > max(ends) - 0.1 for end in ends) < 50
    )  # of eighty that rest the longest a tenth, give or take


def test_what_took_long_rests_as_long_as_it_has_to(clock: list[float]) -> None:
    assert rests.after(15.0) == 15.0
    assert rests.LONGEST * rests.SPREAD <= rests.after(0.1) - 0.1 <= rests.LONGEST
