"""Where a request meets its operation: found in the tree of paths, and carried out in compiled form.

Connexion loads the documents and resolves their operations; from what it loaded each becomes a Pipeline. An ordinary
request takes the pipeline's steps from here, with one hop into a thread of its lane. With FAST_PATH=0 everything goes
through Connexion's chain, where the same steps sit in Connexion's seats.
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import quote

from connexion.middleware.abstract import SpecMiddleware
from connexion.spec import Specification

from app.http import answers, context, paths, refusals
from app.http.answers import Answer
from app.http.paths import METHODS, Tree
from app.http.pipeline import Pipeline
from app.http.seats import Handlers, Pipelines
from app.http.threads.deadline import Deadline
from app.http.threads.hop import Hop, Late, Left
from app.http.threads.lanes import AT_ONCE, Lane
from app.http.threads.places import Places
from gateways import sandbox
from rules.errors import MethodNotAllowed, NotFound, Unavailable
from schemas import static
from store.assessing import queueing
from store.database import greenlets

PLACE_SECONDS = 0.5  # between two looks at a program's place in the queue


class Front(SpecMiddleware):
    """Find the operation; carry it out, or pass it on."""

    def __init__(
        self,
        app: context.App,
        *,
        pipelines: Pipelines,
        lanes: dict[str, Lane],
        reads: Places,
        changes: Places,
        fast: bool,
    ) -> None:
        self.app, self.pipelines, self.lanes, self.fast = app, pipelines, lanes, fast
        self.reads, self.changes = reads, changes
        self.telling = Hop(1, "telling")
        self.tree: Tree[Pipeline] = Tree()

    def add_api(
        self, specification: Specification, *, base_path: str, resolver: Handlers, **_options: Any
    ) -> None:
        """Compile a document's operations."""
        for path, item in specification["paths"].items():
            for method in METHODS:
                if method in item:
                    operation = specification.operation_cls.from_spec(
                        specification, path=path, method=method, resolver=resolver
                    )
                    handler = resolver.handler(operation.operation_id)
                    pipeline = Pipeline(operation, item[method], base_path + path, handler, self.pipelines)
                    self.pipelines[pipeline.id] = pipeline
                    self.tree.add(base_path + path, method, pipeline)

    async def __call__(self, scope: context.Scope, receive: context.Receive, send: context.Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = context.of(scope)
        try:
            found = self._find(scope, request)
            if found is None:
                answer = None
            elif isinstance(found, Answer):
                answer = found
            elif found.is_light:
                with Deadline(self.lanes[found.lane].seconds):
                    answer = await greenlets.run(found.look_up, request, receive, self.reads)
            else:
                answer = await self._carry_out(found, request, receive)
        except Left:
            return
        except Exception as fault:  # whatever it is has an answer
            answer = refusals.answer(fault, request)
        if answer is None:
            await self.app(scope, receive, send)
        else:
            try:
                await answers.send(answer, send, request, partial(self._more, request))
            except (Left, Late, Unavailable):
                return  # the connection ends unfinished, as the client sees

    def _find(self, scope: context.Scope, request: context.Request) -> Pipeline | Answer | None:
        """Return the operation that is carried out here; None where the chain does. Refuse what no document knows."""
        if request.method in ("GET", "HEAD") and not request.path.startswith(paths.API):
            if file := static.find(request.path):
                return answers.render(answers.Made(file, 200), request)
            if small := paths.in_small_letters(request.path):
                query = f"?{request.query.decode('ascii', 'ignore')}" if request.query else ""
                return Answer(308, b"", {"Location": quote(small) + query})
        place = self.tree.find(request.path)
        if place is None or b"%2f" in (scope.get("raw_path") or b"").lower():  # encoded, it divides nothing
            raise NotFound("There is no such path.")
        if request.method == "OPTIONS":
            return Answer(204, b"", {"Allow": place.allow})
        method = "GET" if request.method == "HEAD" else request.method
        if method not in place.methods:
            raise MethodNotAllowed(allow=place.allow)
        if request.path != (proper := place.proper(request.path)):
            request.path = scope["path"] = proper
            scope["raw_path"] = proper.encode("utf-8", "surrogateescape")
        request.pipeline = place.methods[method]
        request.headers.update(request.pipeline.notices)
        return request.pipeline if self.fast else None

    async def _carry_out(
        self, pipeline: Pipeline, request: context.Request, receive: context.Receive
    ) -> Answer:
        """Take the steps of what does more than read data: all on the loop where one statement is the change.

        Else three of them in a thread of its lane.
        """
        if pipeline.lane == AT_ONCE:
            pipeline.count(request)
            return pipeline.serve(request)
        lane = self.lanes[pipeline.lane]
        left, began = lane.seconds, time.monotonic()
        with Deadline(left):
            await greenlets.run(pipeline.admit, request)
        left -= time.monotonic() - began
        await pipeline.receive(request, receive)  # as long as the client takes has limits of its own
        if pipeline.fits_alone(request):
            began = time.monotonic()
            with Deadline(left):
                if made := await greenlets.run(pipeline.change, request, self.changes):
                    return made
            left -= time.monotonic() - began
        request.waits_for = lane.hop.submit(pipeline.serve, request, party=request.party, within=left)
        if pipeline.lane == "program":
            await self._tell_place(pipeline, request, lane.hop)
        answer: Answer = await request.waits_for
        return answer

    async def _tell_place(self, pipeline: Pipeline, request: context.Request, hop: Hop) -> None:
        """Tell which place a candidate's program has in the queue, until it has run."""
        begun = request.waits_for
        owner = pipeline.owner(request)
        if begun is None or owner is None:
            return
        while not (await asyncio.wait({begun}, timeout=PLACE_SECONDS))[0]:
            place = sandbox.place(owner[1], hop.ahead(begun))
            with suppress(Late, Unavailable):
                await self.telling.submit(
                    queueing.tell, owner[1], place, party=request.party, within=PLACE_SECONDS
                )

    async def _more(self, request: context.Request, rest: Iterator[bytes]) -> bytes | None:
        """Make the next part of an answer, in a turn of its own in the lane of its operation."""
        if request.has_left:  # while a part was being taken
            raise Left
        lane = self.lanes[request.pipeline.lane]
        request.waits_for = lane.hop.submit(next, rest, None, party=request.party, within=lane.seconds)
        part: bytes | None = await request.waits_for
        return part
