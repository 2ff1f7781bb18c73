"""A thousand candidates invited by one request: `python -m bench.bulk_invite`."""

import json
import statistics
import sys
import time
import urllib.request

from bench import figures
from bench.figures import Figure
from bench.requests import KINDS, PLANS, free_port, prepare
from bench.start import answers


def measure(quick: bool) -> list[Figure]:
    """Send the request a few times, with other candidates each time."""
    with figures.place(plans=PLANS) as settings:
        key, port = prepare(), free_port()
        command = [sys.executable, "-P", "-m", "app.cli", "web", "--port", str(port)]
        process = figures.start(command, settings, PLANS=PLANS)
        try:
            figures.wait_until(lambda: answers(port, KINDS["get"], key), seconds=60, what="The start")
            taken = [invite(port, key, number) for number in range(3 if quick else 9)]
        finally:
            figures.stop(process)
    return [figures.at_most("bulk invite of 1,000 candidates", statistics.median(taken), "s", 2)]


def invite(port: int, key: str, number: int) -> float:
    rows = [
        {
            "email": f"bulk-{number}-{row}@example.com",
            "name": "Ada Lovelace",
            "external_id": f"{number}-{row}",
        }
        for row in range(1000)
    ]
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{KINDS['post']}bulk/",
        json.dumps({"candidates": rows, "send_email": True}).encode(),
        {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    began = time.perf_counter()
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert len(json.load(answer)["invited"]) == 1000
    return time.perf_counter() - began


if __name__ == "__main__":
    figures.main(measure, __doc__)
