"""Ways to break the pipeline, one at a time: a file, what stands in it once, and what is put there instead."""

from typing import NamedTuple


class Mutant(NamedTuple):
    file: str
    old: str
    new: str


PIPELINE, FRONT, SEATS = "app/http/pipeline.py", "app/http/front.py", "app/http/seats.py"
ANSWERS, ONCE, LIMITS = "app/http/answers.py", "app/http/once.py", "app/http/limits.py"
SECURITY, VALIDATION = "app/http/security.py", "app/http/validation.py"

MUTANTS = {
    # identify
    "nobody has to be known": Mutant(PIPELINE, "security.identify(request, self.security)", "None"),
    "a scope is not asked for": Mutant(
        SECURITY, "if missing := scopes.missing(granted, required):", "if missing := []:"
    ),
    "the chain asks for no scope": Mutant(
        SEATS, "security.bearer, request, required_scopes", "security.bearer, request, []"
    ),
    "a revoked key works": Mutant(
        SECURITY, "if row is None or row.revoked_at is not None:", "if row is None:"
    ),
    # count
    "writes count as reads": Mutant(PIPELINE, 'reads=self.method == "GET"', "reads=True"),
    "a cap of its own is forgotten": Mutant(PIPELINE, "cap=self.cap", "cap=None"),
    "the chain does not count": Mutant(SEATS, "await run_in_threadpool(pipeline.count, request)", ""),
    "the compiled way does not count": Mutant(PIPELINE, "        self.count(request)\n", ""),
    "answers do not say where the limit stands": Mutant(LIMITS, "request.headers |= {", "_ = {"),
    "what is used up is not refused": Mutant(LIMITS, "if wait is not None:", "if False:"),
    # read
    "unknown parameters are taken": Mutant(
        VALIDATION, "            if name not in self.query\n", "            if False\n"
    ),
    "a missing body is none": Mutant(VALIDATION, "if self.required:", "if False:"),
    "defaults are not filled in": Mutant(
        VALIDATION, "return None if found else schema.finish(value)", "return None if found else value"
    ),
    "every media type is taken": Mutant(VALIDATION, "if media not in self.bodies:", "if False:"),
    "the chain reads nothing": Mutant(SEATS, "request.pipeline.read(request)", "pass"),
    "only the first fault is told": Mutant(
        VALIDATION, "raise Invalid(fields=faults)", "raise Invalid(fields=faults[:1])"
    ),
    "a field for nothing is taken": Mutant(VALIDATION, "faults += _strange(request.body)", "pass"),
    # run
    "a plan opens everything": Mutant(PIPELINE, "if request.caller and self.feature:", "if False:"),
    "a request that names itself is run again": Mutant(
        PIPELINE, "if request.caller and once.names_itself(request.arguments):", "if False:"
    ),
    "another request may have the same name": Mutant(
        ONCE, "hashlib.sha256(target.encode() + hashed)", "hashlib.sha256(b'')"
    ),
    "an answer in parts is not kept": Mutant(
        ONCE, "            idempotency.keep(session, asked, held, answer)\n", ""
    ),
    "every success is 200": Mutant(
        PIPELINE,
        'self.success = int(min(status for status in operation.responses if status.startswith("2")))',
        "self.success = 200",
    ),
    # render
    "reads say nothing of the quota": Mutant(
        PIPELINE, "if self.with_meta and caller and means else None", "if False else None"
    ),
    "a page leads back to itself": Mutant(
        ANSWERS, '"next": _page_url(request, page.next)', '"next": _page_url(request, page.previous)'
    ),
    "a replay is not named": Mutant(PIPELINE, '{"Idempotent-Replayed": "true"} if replayed else {}', "{}"),
    "everything is JSON": Mutant(
        ANSWERS,
        'headers.append((b"content-type", answer.media_type.encode()))',
        'headers.append((b"content-type", b"application/json"))',
    ),
    "pages lose their headers": Mutant(
        ANSWERS,
        "Answer(view.status, html.encode(), view.headers, HTML)",
        "Answer(view.status, html.encode(), {}, HTML)",
    ),
    "the chain loses headers": Mutant(
        SEATS, "answer.status, answer.headers, content_type", "answer.status, {}, content_type"
    ),
    # the way to them
    "a last slash matters": Mutant(
        FRONT,
        "if request.path != (proper := place.proper(request.path)):",
        "if not (proper := place.proper(request.path)):",
    ),
    "a wrong method is a wrong path": Mutant(
        FRONT, "raise MethodNotAllowed(allow=place.allow)", 'raise NotFound("There is no such path.")'
    ),
}
