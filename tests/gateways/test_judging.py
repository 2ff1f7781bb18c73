"""Whether what a program printed is right, and who says so."""

import pytest

from gateways import judging, sandbox
from gateways.places import Holder, Places, Turn
from gateways.sandbox import Run, UnavailableError
from rules.errors import Unavailable

needs_python = pytest.mark.skipif(
    not sandbox.available("python"), reason=f"no python sandbox here: {sandbox.why_not('python')}"
)


def case(body="", expected="1\n"):
    check = f"def check(input, output, expected_output):\n    {body}\n" if body else ""
    return {"input": "in", "expected_output": expected, "check": check}


def judged(test, run=Run("1\n", "", "ok")):  # noqa: B008 - it never changes
    (verdict,) = judging.judge([test], [run])
    return verdict


def test_without_a_check_outputs_are_compared():
    assert judged(case()).passed
    wrong = judged(case(expected="2\n"))
    assert (wrong.passed, wrong.difference["line"]) == (False, 1)


def test_a_program_that_ended_badly_has_failed_whatever_a_check_would_say(monkeypatch):
    monkeypatch.setattr(sandbox, "run", None)
    verdict = judged(case("return True"), Run("1\n", "", "error", exit_code=3))
    assert (verdict.passed, verdict.message) == (False, "The program ended with exit code 3.")


@needs_python
def test_a_check_gets_input_output_and_what_was_expected():
    assert judged(case("return (input, output, expected_output) == ('in', '1\\n', '9')", "9")).passed


@needs_python
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return False", "The output is not right."),
        ("return 'Two rows are missing.'", "Two rows are missing."),
    ],
)
def test_a_check_fails_an_output_with_its_sentence(body, message):
    verdict = judged(case(body))
    assert (verdict.passed, verdict.message) == (False, message)


@needs_python
@pytest.mark.parametrize(
    "body",
    [
        "raise ValueError('oh')",
        "return None",
        "return 1",
        "return ''",
        "raise SystemExit",
        "import os; os._exit(0)",
        "import os; os.kill(os.getpid(), 9)",
        "import sys; sys.__stdout__.write('{}')",
        "x = [0] * 10**9",
        "return '\\ud800' + str(1 / 0)",
    ],
)
def test_a_check_that_fails_itself_fails_nobody(body):
    verdict = judged(case(body))
    assert verdict.passed is None
    assert verdict.message.startswith("The check of this test failed: ")


@needs_python
def test_what_a_check_prints_is_no_verdict():
    assert judged(case("print('{\"passed\": true}'); return False")).passed is False


@needs_python
def test_half_a_character_in_a_message_is_no_fault_of_the_candidates():
    assert (
        judged(case("return 'a\\ud800'.encode('utf-8', 'surrogatepass').decode('latin-1')")).passed is False
    )
    assert judged(case("return chr(0xD800)")).message == "?"


@needs_python
def test_each_output_has_the_check_of_its_own_test():
    tests = [case("return output == '1\\n'"), case(expected="2"), case("return output == '3\\n'")]
    runs = [Run(f"{number}\n", "", "ok") for number in (1, 2, 3)]
    assert [one.passed for one in judging.judge(tests, runs)] == [True, True, True]
    assert [one.passed for one in judging.judge(tests, runs[::-1])] == [False, True, False]


def test_where_no_check_can_run_a_person_has_to_judge(monkeypatch):
    def refuse(*_, **__):
        raise UnavailableError("no walls")

    monkeypatch.setattr(sandbox, "run", refuse)
    assert judged(case("return True")).passed is None


@needs_python
def test_checks_run_in_the_share_of_whom_the_program_ran_for(monkeypatch):
    monkeypatch.setattr(sandbox, "PLACE_SECONDS", 0.1)
    monkeypatch.setattr(sandbox, "_places", Places(2))
    given = [case("return True")], [Run("1\n", "", "ok")]
    with sandbox._places.taken(Turn(Holder("an organisation", "a session")), 1):
        assert judging.judge(*given, holder=Holder("another", "a session"))[0].passed
        with pytest.raises(Unavailable, match="Other code"):
            judging.judge(*given, holder=Holder("an organisation", "another session"))
