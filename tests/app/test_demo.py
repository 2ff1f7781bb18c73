"""`hiring demo` plays the main journey through real processes."""

import subprocess
import sys
from pathlib import Path

from app.cli.demo.hire import EVENTS
from app.instance.settings import ROOT


def played(tmp_path: Path, *options: str) -> str:
    """Play the demo on an instance of its own; return what it printed."""
    command = [sys.executable, "-P", "-m", "app.cli", "demo", "--data", str(tmp_path / "none"), *options]
    done = subprocess.run(
        command, cwd=ROOT, env=None, capture_output=True, text=True, timeout=180, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_demo_ends_with_verified_signatures_and_the_score(tmp_path: Path) -> None:
    printed = played(tmp_path)
    for event in (
        "webhook.test",
        "invitation.created",
        "assessment.started",
        "assessment.completed",
        "candidate.passed",
    ):
        assert f"{event} arrived" in printed
    assert "(100.00 %): passed. 5 signatures verified." in printed


def test_the_journey_of_a_hire_goes_from_the_application_to_the_accepted_offer(tmp_path: Path) -> None:
    printed = played(tmp_path, "--journey", "hire")
    assert "offer.pdf of " in printed
    assert " → ".join(EVENTS) in printed
    assert f"Ada Lovelace is hired. {len(EVENTS) + 3} signatures verified." in printed


def test_the_journey_of_an_interview_goes_from_the_room_to_its_analysis(tmp_path: Path) -> None:
    printed = played(tmp_path, "--journey", "interview")
    for event in ("interview.started", "interview.completed", "interview.analysis_ready"):
        assert f"{event} arrived" in printed
    assert "Ada Lovelace: I would send the ETag back" in printed
    assert "join → join → message → message → question → code → run → end" in printed
    assert "2 of 2 questions answered; talk: candidate 0.57" in printed
    assert "Score 100.00 of 100. 4 signatures verified." in printed
