"""Ways to break the pipeline, one at a time: a file, what stands in it once, and what is put there instead."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One fault; `seen_by` names the tests that are asked first."""

    file: str
    old: str
    new: str
    seen_by: str


PIPELINE, FRONT, SEATS = "app/http/pipeline.py", "app/http/front.py", "app/http/seats.py"
ANSWERS, ONCE, LIMITS = "app/http/answers.py", "app/http/once.py", "app/http/limits.py"
SECURITY, VALIDATION = "app/http/security.py", "app/http/validation.py"

_SCOPES = "if missing := scopes.missing(caller.scopes, required):"
_ONCE = "if request.caller and once.names_itself(request.arguments):"
_MEDIA = 'headers.append(("Content-Type", answer.media_type))'
_VIEW = "headers = view.headers | PAGE_VARY"
_SLASH = "if request.path != (proper := place.proper(request.path)):"

MUTANTS = {
    # identify
    "nobody has to be known": Mutant(PIPELINE, "security.identify(request, self.security)", "None", "scopes"),
    "a scope is not asked for": Mutant(SECURITY, _SCOPES, "if missing := []:", "scopes"),
    "the chain asks for no scope": Mutant(SEATS, "request, required_scopes)", "request, [])", "both_ways"),
    "a key is looked at for its form alone": Mutant(
        SECURITY, "found = _look_up(key, request)", "found = None", "answers"
    ),
    # count
    "writes count as reads": Mutant(PIPELINE, 'reads=self.method == "GET"', "reads=True", "limits"),
    "a cap of its own is forgotten": Mutant(PIPELINE, "cap=self.cap", "cap=None", "limits"),
    "the chain does not count": Mutant(
        SEATS, "await run_in_threadpool(pipeline.count, request)", "", "both_ways"
    ),
    "the compiled way does not count": Mutant(PIPELINE, "        self.count(request)\n", "", "both_ways"),
    "answers do not say where the limit stands": Mutant(LIMITS, "request.headers |= {", "_ = {", "answers"),
    "what is used up is not refused": Mutant(LIMITS, "if wait is not None:", "if False:", "limits"),
    # read
    "unknown parameters are taken": Mutant(
        VALIDATION, "            if name not in self.query and not self.tolerant\n", "            if False\n", "bounds"
    ),
    "a missing body is none": Mutant(VALIDATION, "if self.required:", "if False:", "arguments"),
    "defaults are not filled in": Mutant(
        VALIDATION, "None if found else schema.finish(value)", "None if found else value", "answers"
    ),
    "every media type is taken": Mutant(
        VALIDATION, "if media not in self.bodies:", "if False:", "both_ways bounds"
    ),
    "the chain reads nothing": Mutant(SEATS, "request.pipeline.read(request)", "pass", "both_ways"),
    "only the first fault is told": Mutant(
        VALIDATION, "raise Invalid(fields=faults)", "raise Invalid(fields=faults[:1])", "bounds"
    ),
    "a field for nothing is taken": Mutant(
        VALIDATION, "faults += _strange(request.body)", "pass", "both_ways bounds"
    ),
    # run
    "a request that names itself is run again": Mutant(PIPELINE, _ONCE, "if False:", "idempotency"),
    "another request may have the same name": Mutant(
        ONCE, "hashlib.sha256(target.encode() + hashed)", 'hashlib.sha256(b"")', "idempotency"
    ),
    "an answer in parts is not kept": Mutant(
        ONCE, "            idempotency.keep(session, asked, held, answer)\n", "", "idempotency"
    ),
    "every success is 200": Mutant(
        PIPELINE, "self.success, self.changed = min(successes)", "self.success, self.changed = 200", "answers"
    ),
    "arguments are used up": Mutant(
        PIPELINE, "asked = request.arguments\n", "asked = dict(request.arguments)\n        request.arguments.clear()\n",
        "arguments",
    ),
    # render
    "reads say nothing of the quota": Mutant(
        PIPELINE, "if self.with_meta and caller and means else None", "if False else None", "answers"
    ),
    "a page leads back to itself": Mutant(
        ANSWERS, '"next": _page_url(request, page.next)', '"next": _page_url(request, page.previous)', "paths"),
    "a replay is not named": Mutant(
        PIPELINE, '{"Idempotent-Replayed": "true"} if replayed else {}', "{}", "idempotency"
    ),
    "everything is JSON": Mutant(
        ANSWERS, _MEDIA, 'headers.append(("Content-Type", "application/json"))', "answers"
    ),
    "pages lose their headers": Mutant(ANSWERS, _VIEW, "headers = PAGE_VARY", "paths"),
    "the chain loses headers": Mutant(
        SEATS, "answer.status, answer.headers, content_type", "answer.status, {}, content_type", "both_ways"
    ),
    "what is known is sent again": Mutant(
        ANSWERS, 'if _unchanged(request.head.get("if-none-match", ""), file.etag):', "if False:", "answers"
    ),
    # the lane
    "everything is ordinary": Mutant(FRONT, "self.lanes[pipeline.lane]", 'self.lanes["request"]', "lanes"),
    "marks are not read": Mutant(PIPELINE, 'definition.get("x-lane", lanes.ORDINARY)', '"request"', "lanes"),
    # the way to them
    "a last slash matters": Mutant(FRONT, _SLASH, "if not (proper := place.proper(request.path)):", "both_ways"),
    "a wrong method is a wrong path": Mutant(
        FRONT, "raise MethodNotAllowed(allow=place.allow)", 'raise NotFound("There is no such path.")', "paths"),
}  # fmt: skip
