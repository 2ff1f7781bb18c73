"""`hiring demo`: the main journey, visibly, through the public API alone."""

import base64
import hashlib
import hmac
import json
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import click
import httpx

from app.cli import options
from app.instance import demo_keys, embedded, places
from app.instance.trouble import Trouble

PATIENCE = 60.0  # seconds for each thing that happens by itself

CASES = (
    (
        {
            "title": "Revalidating a cached answer",
            "case_type": "mcq",
            "question": "Which header lets a client ask whether its cached copy is still good?",
            "options": [
                {"id": "etag", "text": "`ETag`", "is_correct": True},
                {"id": "ranges", "text": "`Accept-Ranges`"},
                {"id": "vary", "text": "`Vary`"},
            ],
        },
        "etag",
    ),
    (
        {
            "title": "Two in a row",
            "case_type": "numeric",
            "question": "A test fails by chance once in ten runs. How likely is it to fail twice running, in percent?",
            "answer_number": 1,
            "tolerance": "0.01",
        },
        1,
    ),
    (
        {
            "title": "Add up the lines",
            "case_type": "coding",
            "language": "python",
            "question": "Read whole numbers, one a line, and print their sum.",
            "starter_code": "import sys\n",
            "test_cases": [
                {"input": "1\n2\n3\n", "expected_output": "6\n"},
                {"input": "", "expected_output": "0\n", "hidden": True},
            ],
        },
        "import sys\nprint(sum(int(line) for line in sys.stdin if line.strip()))\n",
    ),
)


def run(data: Path) -> None:
    """Play the journey against the running instance of a data folder, or against one of its own."""
    with _target(data) as (base_url, key), _receiver() as (hook_url, received):
        _play(Api(base_url, key), base_url, hook_url, received)


class Api:
    """The public API with a key; an answer that was not hoped for ends the demo."""

    def __init__(self, base_url: str, key: str | None, prefix: str = "/api/v1/public") -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.client = httpx.Client(base_url=base_url + prefix, headers=headers, timeout=30, trust_env=False)

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        """Call one operation and return what it answers."""
        answer = self.client.request(method, path, json=body)
        if not answer.is_success:
            raise Trouble(f"{method} {path} answered {answer.status_code}: {answer.text}")
        return answer.json() if answer.content else None


def _play(api: Api, base_url: str, hook_url: str, received: "Received") -> None:
    organisation = api("GET", "/org/")
    _say(
        "organisation", f"{organisation['name']}, {organisation['plan']} plan, test mode: nothing is used up"
    )

    endpoint = api("POST", "/webhooks/create/", {"url": hook_url, "events": ["*"], "name": "Demo"})
    received.secret = endpoint["secret_key"]
    try:
        ping = api("POST", f"/webhooks/{endpoint['id']}/test/")
        _say("webhook", f"{hook_url} verified in {ping['response_time_ms']} ms")
        _expect(received, "webhook.test")

        made = api("POST", "/assessments/create/", {"title": "Demo assessment", "time_limit_minutes": 30})
        slug = made["slug"]
        _say("assessment", f"{slug} is a {made['status']}")
        cases = [api("POST", "/cases/create/", case) for case, _ in CASES]
        places = [{"case_id": case["id"], "source": "org"} for case in cases]
        attached = api("POST", f"/assessments/{slug}/cases/attach/", {"cases": places})
        _say("cases", ", ".join(f"{row['title']} ({row['case_type']})" for row in attached))
        active = api("PATCH", f"/assessments/{slug}/update/", {"status": "active"})
        _say("activated", f"{slug} is {active['status']}")

        person = {
            "email": "ada@example.com",
            "name": "Ada Lovelace",
            "external_id": "demo-1",
            "send_email": True,
        }
        invited = api("POST", f"/assessments/{slug}/invites/", person)
        _say("invited", f"{person['name']} at {invited['invite_url']}")
        _expect(received, "invitation.created")

        token = invited["invite_token"]
        _sit(Api(base_url, None, f"/api/v1/candidate/invites/{token}"))
        for event in ("assessment.started", "assessment.completed", "candidate.passed"):
            _expect(received, event)

        result = api("GET", f"/invites/{token}/result/")
        for case in result["cases"]:
            _say("graded", f"{case['case_title']}: {case['score']} of {case['max_score']} ({case['status']})")
        passed = {True: "passed", False: "failed", None: "waiting for review"}[result["passed"]]
        click.echo()
        click.secho(
            f"Score {result['score']} of {result['max_score']} ({result['score_percentage']} %): {passed}. "
            f"{received.verified} signatures verified.",
            bold=True,
        )
    finally:
        api("DELETE", f"/webhooks/{endpoint['id']}/")


def _sit(candidate: Api) -> None:
    session = candidate("POST", "/start/")
    _say("candidate", f"started, until {session['deadline_at']}")
    answers = {case["title"]: answer for case, answer in CASES}
    for case in session["cases"]:
        candidate("PUT", f"/answers/{case['assessment_case_id']}/", {"answer": answers[case["title"]]})
        _say("candidate", f"answered {case['title']}")
    candidate("POST", "/submit/")
    _say("candidate", "submitted")


class Received:
    """What has arrived, verified on arrival."""

    def __init__(self) -> None:
        self.events: queue.Queue[dict[str, Any]] = queue.Queue()
        self.secret = ""
        self.verified = 0

    def take(self, headers: Any, body: bytes) -> None:
        """Verify a delivery as the contract says, and keep it."""
        key = base64.b64decode(self.secret.removeprefix("whsec_"))
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        genuine = any(
            hmac.compare_digest(signature, f"v1,{expected}")
            for signature in headers["webhook-signature"].split(" ")
        )
        self.verified += genuine
        self.events.put(json.loads(body) | {"genuine": genuine})


def _expect(received: Received, type: str) -> None:
    """Wait for an event; deliveries may overtake each other, so others are put back."""
    others = []
    try:
        while True:
            event = received.events.get(timeout=PATIENCE)
            if not event["genuine"]:
                raise Trouble(f"The signature of {event['type']} is wrong.")
            if event["type"] == type:
                number = f", number {event['sequence']}" if event.get("sequence") else ""
                _say("event", f"{type} arrived{number}; signature verified")
                return
            others.append(event)
    except queue.Empty:
        raise Trouble(
            f"{type} did not arrive within {PATIENCE:.0f} s. Is a worker running, and may it deliver to this machine"
            " (WEBHOOK_ALLOW_PRIVATE=1)?"
        ) from None
    finally:
        for event in others:
            received.events.put(event)


@contextmanager
def _receiver() -> Iterator[tuple[str, Received]]:
    received = Received()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.take(self.headers, self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/hook", received
        server.shutdown()


@contextmanager
def _target(data: Path) -> Iterator[tuple[str, str]]:
    running = _running(data)
    if running:
        yield running
        return
    click.echo(f"Nothing runs in {data}; starting an instance of the demo's own …")
    with tempfile.TemporaryDirectory(prefix="hiring-demo-") as folder:
        Path(folder).chmod(0o711)  # as root: the servers' user has to get to what it keeps there
        command = [sys.executable, "-P", "-m", "app.cli", "up", "--port", "0", "--data", folder, "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as up:
            try:
                line = up.stdout.readline() if up.stdout else ""
                if not line:
                    raise Trouble("The demo's own instance did not start.")
                facts = json.loads(line)
                yield facts["base_url"], facts["test_key"]
            finally:
                up.terminate()
                up.wait(30)


def _running(data: Path) -> tuple[str, str] | None:
    where = places.find(data)
    if where is None:
        return None
    base_url = embedded.published(where).get("base_url")
    kept = demo_keys.kept(where)
    if not base_url or not kept:
        return None
    try:
        httpx.get(base_url, timeout=5, trust_env=False)
    except httpx.HTTPError:
        return None
    return base_url, kept["test_key"]


def _say(what: str, text: str) -> None:
    click.echo(f"{click.style('✓', fg='green')} {what:12} {text}")


@click.command("demo")
@options.data
def command(data: Path) -> None:
    """Play the main journey: an assessment, a candidate, a score, signed webhooks."""
    run(data)
