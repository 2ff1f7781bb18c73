"""One operation from its request to its answer, in five steps, whichever way the request came.

identify  who asks, by the document's `security`                        needs the head alone
count     against the hour, the address and the operation's own cap     needs the head alone
read      parameters and body against the document, every fault at once
run       one transaction and the handler; an Idempotency-Key's effect once
render    JSON, a page or a file
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import chain
from typing import Any
from urllib.parse import urlencode

import orjson
from connexion.operations import AbstractOperation
from sqlalchemy.orm import Session
from starlette.datastructures import Headers

import store
from app.http import answers, bodies, limits, once, security
from app.http.answers import Answer, Made
from app.http.context import Receive, Request
from app.http.records import given, traces
from app.http.records.notes import NOTES
from app.http.threads import lanes
from app.http.threads.places import Places
from app.http.validation import Reader
from rules import deprecation, links, plans
from rules.caller import Caller
from rules.errors import LiveKey
from rules.refusal import Refusal
from schemas.files import Stream
from schemas.views import Called, Redirect, refusing
from store.accounts import idempotency, organisations
from store.auditing import trail
from store.auditing.trail import Entry
from store.database.engine import Means, Reading
from store.database.greenlets import wait_for

AREA = ("/api/v1/area/", "/area/")  # where an organisation's own people are

Opens = Callable[[], AbstractContextManager[Means | None]]
# What is opened for a handler that names it.
OPENS: dict[str, Opens] = {
    "session": store.transaction,
    "reading": store.reading,
    "writing": store.writing,
    "alone": store.writing,
}
# Of a body that is read on the event loop: to say all that is wrong with so many bytes takes 8 ms at most.
SMALL_BYTES = 1024


class Pipeline:
    """One operation, compiled from what Connexion loaded.

    The handler names what it needs: `session`, a transaction; `writing`, one in which prepared statements are enough;
    `alone`, the same, or one statement on the event loop that is all of it (with `begin` beside it, that or None);
    `reading` where it changes nothing, `readings` to open one for each part of what is made while it is sent;
    `begin` and `finish` where it must reach the network between two transactions,
    `finish` for the last one, with which the answer to an Idempotency-Key is kept; `caller`; `address`, that of the
    client; `kept`, what its browser keeps by name; `call` to carry out other operations for who asks; parameters and
    `body` by name, or all that it does not name as `**query`.
    """

    def __init__(
        self,
        operation: AbstractOperation,
        definition: dict[str, Any],
        template: str,
        handler: Callable[..., Any],
        others: Mapping[str, "Pipeline"],
    ) -> None:
        signature = inspect.signature(handler).parameters.values()
        self.id: str = operation.operation_id
        self.tag: str = definition["tags"][0]
        self.template, self.others = template, others  # those that a page may call, by their ids
        self.handler, self.method = handler, operation.method.upper()
        self.security: security.Alternatives = operation.security or []
        self.cap: str | None = definition.get("x-limit")
        self.reader = Reader(operation, template)
        self.of_tests_alone = definition.get("x-mode") == "test"
        self.feature: str | None = definition.get("x-feature")
        self.wants = {parameter.name for parameter in signature}
        self.gives = [(name, give) for name, give in given.GIVES.items() if name in self.wants]
        self.names = [name for name in self.wants if name not in given.GIVES]
        self.wants_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature)
        opened = self.wants - {"alone"} if "begin" in self.wants else self.wants
        self.open = next((opens for name, opens in OPENS.items() if name in opened), nullcontext)
        self.lane: str = definition.get("x-lane", lanes.ORDINARY)
        self.notices: dict[str, str] = {}
        if definition.get("deprecated"):
            page = f"{links.base()}/docs/guides/versions/"
            self.notices = deprecation.notices(definition["x-deprecated-at"], definition["x-sunset-at"], page)
        is_area = template.startswith(AREA)
        self.channel = "area" if is_area else "public_api" if self.security else "candidate"
        self.audited = self.method != "GET" and definition.get("x-audit") != "none"
        self.in_parts = self.open is nullcontext  # whatever transactions it has in a thread, it opens itself
        successes = [int(status) for status in operation.responses if status.startswith("2")]
        self.success, self.changed = min(successes), max(successes)  # what is new is 201
        content = operation.responses[str(self.success)].get("content", {})
        # A form leads a browser to another page, and tells a program of it.
        self.tells_way = "303" in operation.responses and answers.JSON in content
        self.with_meta = self.method == "GET" and answers.JSON in content
        # What only reads, and answers data, waits for the database alone: that needs no thread.
        self.is_light = self.with_meta and self.lane == lanes.ORDINARY and "reading" in self.wants
        self.is_alone = self.lane == lanes.ORDINARY and "alone" in self.wants

    def owner(self, request: Request) -> tuple[str, str] | None:
        """Return what of a request's path says whose it is, where no key does: the parameter and its value.

        What anybody may look at is nobody's: of careers only what is sent there counts.
        """
        if self.method == "GET" and "{token}" not in self.template:
            return None
        segments = request.path.strip("/").split("/")
        found = ((name, segments[number]) for number, name in self.reader.places if name in lanes.OWNERS)
        return next(((name, value) for name, value in found if bodies.sound(value)), None)

    # --- The steps

    def identify(self, request: Request) -> None:
        """Note who asks, or refuse."""
        request.caller = security.identify(request, self.security)
        if self.of_tests_alone and request.caller and request.caller.livemode:
            raise LiveKey

    def count(self, request: Request) -> None:
        """Count the request, or refuse it."""
        limits.count(request, reads=self.method == "GET", cap=self.cap)

    def read(self, request: Request) -> None:
        """Note the handler's arguments, or refuse with every fault of the request."""
        if self.channel == "area" and self.method != "GET":
            security.check_origin(request)
        request.arguments = self.reader.read(request)

    def run(self, request: Request, opens: Opens | None = None) -> Made | Answer:
        """Carry the request out, once more where it ended in a deadlock; an answer where it was given before."""
        opens = opens or self.open
        try:
            return self._run(request, opens)
        except store.WaitRanOut as fault:
            if request.begun or not fault.is_deadlock:
                raise
        self.read(request)  # for fresh arguments, which a handler may have changed
        return self._run(request, opens)

    def _run(self, request: Request, opens: Opens) -> Made | Answer:
        if request.caller and self.feature:
            plans.require(request.caller.plan_name, self.feature)
        if request.caller and once.names_itself(request.arguments):
            return self._once(request, request.caller)
        with opens() as means:
            return self._make(request, means)

    def render(self, request: Request, made: Made | Answer) -> Answer:
        """Write what was made."""
        return made if isinstance(made, Answer) else answers.render(made, request)

    # --- In the order of the contract

    def admit(self, request: Request) -> None:
        """Take the steps that come before a byte of the body is read, and note in whose share the others count."""
        self.identify(request)
        self.count(request)
        request.party = lanes.party(request, self.reader.places, self.lane)

    def look_up(self, request: Request, receive: Receive, places: Places) -> Answer:
        """Take all steps of what only reads, in a greenlet of the event loop."""
        self.admit(request)
        if self.reader.is_sent_something(request):
            wait_for(self.receive(request, receive))
        places.take(request)
        try:
            return self.serve(request)
        finally:
            places.give_back(request.party)

    def fits_alone(self, request: Request) -> bool:
        """Say whether one statement on the event loop may be all of a request's change."""
        return self.is_alone and once.IDEMPOTENCY_KEY not in request.head and len(request.body) <= SMALL_BYTES

    def change(self, request: Request, places: Places) -> Answer | None:
        """Take the steps after the body in a greenlet of the event loop; None where that takes a transaction."""
        places.take(request)
        try:
            self.read(request)
            return self.render(request, self.run(request, store.alone))
        except store.NeedsTransaction:
            return None
        finally:
            places.give_back(request.party)

    async def receive(self, request: Request, receive: Receive) -> None:
        """Take in the body."""
        request.body = await self.reader.receive(request, receive)

    def serve(self, request: Request) -> Answer:
        """Take the other steps."""
        self.read(request)
        return self.answer(request)

    def answer(self, request: Request) -> Answer:
        """Take the last two steps."""
        return self.render(request, self.run(request))

    def called(
        self,
        page: Request,
        *,
        csrf_token: str = "",
        query: Mapping[str, Any] | None = None,
        body: dict[str, Any] | None = None,
        upload: tuple[str, bytes] | None = None,
        **path: Any,
    ) -> Called:
        """Take the steps for who looks at a page, as if they had asked: scopes and the session's token too.

        What plays a candidate in the test world asks without either.
        """
        content, media = (b"" if body is None else orjson.dumps(body)), bodies.JSON
        if upload:
            content, media = bodies.part(*upload)
        asked = {name: value for name, value in (query or {}).items() if value not in (None, "")}
        request = Request(
            id=page.id,
            address=page.address,
            method=self.method,
            path=self.template.format(**path),
            query=urlencode(asked, doseq=True).encode(),
            head=Headers(
                {name: page.head.get(name, "") for name in ("user-agent", "cookie")} | {"content-type": media}
            ),
            pipeline=self,
            caller=page.caller if self.security else None,
            body=content,
            started=page.started,
        )
        try:
            if self.security and not page.pipeline.of_tests_alone:
                security.check_session(request, self.security, csrf_token)
            answer = self.serve(request)
        except Refusal as refusal:
            if self.method != "GET" and request.caller:
                request.refused = refusal.code
                NOTES.refuse(request, refusal.status)
            return refusing(refusal)
        if answer.rest is not None or answer.media_type != bodies.JSON:
            parts = chain((answer.body,), answer.rest or ())
            return Called(answer.status, None, file=Stream(parts, answer.media_type, answer.headers))
        return Called(answer.status, orjson.loads(answer.body) if answer.body else None, answer.headers)

    # --- What `run` is made of

    def _make(self, request: Request, means: Means | None, finish: given.Begin = store.transaction) -> Made:
        caller = request.caller
        entry = traces.entry(self, request) if self.audited else None
        in_parts = means is None
        if entry and in_parts:  # written before it is known how the request ends: as it should
            leads = self.tells_way and not answers.prefers_json(request)
            traces.succeeded(entry, self, request, None, 303 if leads else self.changed)
        elif entry and not isinstance(means, Reading | None):
            trail.by(means, entry)
        asked = request.arguments
        arguments = asked if self.wants_all else {name: asked[name] for name in self.names if name in asked}
        there = given.There(request, means, lambda: self._begin(request, entry), finish, entry, self.others)
        made = self.handler(**arguments, **{name: give(there) for name, give in self.gives})
        body, status = made if isinstance(made, tuple) else (made, self.success)
        if isinstance(body, Redirect):
            body, status = answers.way(body, request) if self.tells_way else (body, 303)
        if entry:
            traces.succeeded(entry, self, request, body, status)
            if in_parts and not (entry.is_placed or entry.is_written):  # nothing changed
                with store.transaction() as session:
                    trail.by(session, entry)
        meta = organisations.quota(means, caller) if self.with_meta and caller and means else None
        return Made(body, status, meta)

    @contextmanager
    def _begin(self, request: Request, entry: Entry | None) -> Iterator[Session]:
        """Open one of a request's transactions, and note that it ended well."""
        with store.transaction() as session:
            if entry:
                trail.by(session, entry, trail.NEVER if "finish" in self.wants else trail.IF_TOLD)
            yield session
        request.begun = True

    def _once(self, request: Request, caller: Caller) -> Answer:
        """Answer a request that names itself: its effect once, its answer as often as it is asked for."""

        def first(session: Session | None, finish: given.Begin = store.transaction) -> idempotency.Answer:
            rendered = self.render(request, self._make(request, session, finish))
            return idempotency.Answer(rendered.status, rendered.body)

        asked = once.asked(caller, f"{self.method} {request.path}", request.arguments)
        kept, replayed = once.in_parts(asked, first) if self.in_parts else once.at_once(asked, first)
        return Answer(kept.status, kept.body, {"Idempotent-Replayed": "true"} if replayed else {})
