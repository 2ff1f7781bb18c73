"""A thousand candidates invited, and enrolled, by one request: `python -m bench.bulk`."""

import json
import sys
import time
import urllib.request
from typing import NamedTuple

import store
from bench import figures
from bench.figures import Figure
from bench.sides import KINDS, PLANS, PREFIX, free_port, prepare
from bench.start import answers
from store.advancing.pipelines import Pipeline, Stage
from store.assessing.assessments import Assessment

SLUG = "bench"


class Kind(NamedTuple):
    """One request of a thousand rows."""

    path: str
    done: str  # where the answer names them
    options: dict[str, bool]
    seconds: float  # that it may take


BULK = {
    "invite": Kind(f"{KINDS['post']}bulk/", "invited", {"send_email": True}, 2),
    "enroll": Kind(f"{PREFIX}/pipelines/{SLUG}/enroll/bulk/", "enrolled", {}, 3),
}


def measure(quick: bool) -> list[Figure]:
    """Send each request a few times, with other candidates each time."""
    with figures.place(plans=PLANS) as settings:
        key, port = prepare(), free_port()
        lay()
        command = [sys.executable, "-P", "-m", "app.cli", "web", "--port", str(port)]
        process = figures.start(command, settings, PLANS=PLANS)
        try:
            figures.wait_until(lambda: answers(port, KINDS["get"], key), seconds=60, what="The start")
            rounds = range(3 if quick else 9)
            taken = {
                name: [ask(port, key, kind, f"{name}-{number}") for number in rounds]
                for name, kind in BULK.items()
            }
        finally:
            figures.stop(process)
    return [
        figures.at_most(f"bulk {name} of 1,000 candidates", taken[name], "s", kind.seconds)
        for name, kind in BULK.items()
    ]


def lay() -> None:
    """Make a pipeline that begins with the assessment there is."""
    with store.transaction() as session:
        first = session.query(Assessment).where(Assessment.slug == SLUG).one()
        owner = {"organisation_id": first.organisation_id, "livemode": first.livemode}
        made = Pipeline(**owner, slug=SLUG, title="Engineering", stage_count=2)
        session.add(made)
        session.flush()
        session.add(Stage(pipeline_id=made.id, position=0, stage_type="assessment", assessment_id=first.id))
        session.add(Stage(pipeline_id=made.id, position=1, stage_type="manual_review"))


def ask(port: int, key: str, kind: Kind, round: str) -> float:
    rows = [{"email": f"{round}-{row}@example.com", "name": "Ada Lovelace"} for row in range(1000)]
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{kind.path}",
        json.dumps({"candidates": rows, **kind.options}).encode(),
        {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    began = time.perf_counter()
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert len(json.load(answer)[kind.done]) == 1000
    return time.perf_counter() - began


if __name__ == "__main__":
    figures.main(measure, __doc__)
