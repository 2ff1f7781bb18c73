"""Every refusal and every fault, in the contract's envelope."""

import logging
from typing import Any

import orjson
import redis
from connexion.exceptions import ProblemException
from connexion.lifecycle import ConnexionRequest, ConnexionResponse
from starlette.exceptions import HTTPException

import store
from app.http import answers, context
from app.http.answers import Answer
from app.http.threads.hop import Late
from app.instance import logs
from handlers import pages
from rules import errors, links
from rules.refusal import Refusal
from schemas.tongues import Tongue

log = logging.getLogger("hiring.refusals")

RETRY_AFTER_SECONDS = 5
MACHINES = "/api/"  # below it every refusal is JSON
# A page also for whoever takes anything: forms are sent here without a script.
PAGES = (
    "/application/",
    "/area/",
    "/careers/",
    "/interview/",
    "/join/",
    "/offer/",
    "/recordings/",
    "/report/",
)
ASSISTANT = "/api/v1/public/assistant/"
LONGEST_FLAT = 20_000
ALWAYS = ("documentation_url", "request_id")  # of details: the header X-Request-Id says the same

# What the framework raises by itself, by status; anything else of its 4xx is an invalid request.
_BY_STATUS: dict[int, type[Refusal]] = {
    401: errors.InvalidApiKey,
    404: errors.NotFound,
    405: errors.MethodNotAllowed,
    413: errors.BodyTooLarge,
    415: errors.UnsupportedMediaType,
}
_OUTAGES = (*store.OUTAGES, store.WaitRanOut, Late, redis.ConnectionError, redis.TimeoutError)


def understand(fault: Exception) -> Refusal:
    """Turn whatever was raised into the refusal that the client sees."""
    if isinstance(fault, Refusal):
        return fault
    if isinstance(fault, (ProblemException, HTTPException)):
        status = fault.status if isinstance(fault, ProblemException) else fault.status_code
        if status < 500:
            return _BY_STATUS.get(status, errors.Invalid)()
    if isinstance(fault, _OUTAGES):
        return errors.Unavailable()
    return errors.InternalError()


def for_connexion(request: ConnexionRequest, fault: Exception) -> ConnexionResponse:
    """Answer one refusal or fault, as Connexion's chain wants it."""
    given = answer(fault, context.of(request.scope))
    return ConnexionResponse(
        status_code=given.status, content_type=given.media_type, body=given.body, headers=given.headers
    )


def answer(fault: Exception, request: context.Request) -> Answer:
    """Answer one refusal or fault: in the contract's envelope, or with a page where a person's browser asks."""
    given = render(fault, request.path, answers.spoken_to_people(request))
    request.refused = understand(fault).code
    if not _for_a_person(request):
        return given
    refusal, tongue = understand(fault), answers.spoken(request)
    values = {
        "message": refusal.args[0],
        "details": refusal.details,
        "status": given.status,
        "path": request.path,
    }
    headers = pages.HEADERS | {"Vary": "Accept, Accept-Language", "Content-Language": tongue.tag}
    page = answers.write("refused.html", values, tongue)
    return Answer(given.status, page, given.headers | headers, answers.HTML)


def _for_a_person(request: context.Request) -> bool:
    if request.path.startswith(MACHINES):
        return False
    accepted = request.head.get("accept", "")
    return "text/html" in accepted or (request.path.startswith(PAGES) and "json" not in accepted)


def render(fault: Exception, path: str, tongue: Tongue | None = None) -> Answer:
    """Render one refusal or fault, and log it: refusals at info, faults at error with their traceback.

    It is in English, and in a person's language where it goes to one.
    """
    refusal = understand(fault)
    if isinstance(fault, (store.WaitRanOut, Late, errors.Unavailable)):
        log.warning(
            "%s", refusal.code, extra={"waited_for": getattr(fault, "waited_for", "its turn or its end")}
        )
    elif isinstance(fault, (errors.AiDisabled, errors.AiProviderError, errors.SignInProviderError)):
        # No traceback: it could quote what was said, and it is no fault of ours.
        log.warning("%s", refusal.code, extra={"reason": str(refusal)})
    elif refusal.status >= 500:
        log.error("%s", refusal.code, exc_info=fault)
    else:
        log.info("%s", refusal.code, extra={"refusal": refusal.code, "status": refusal.status})
    headers = {}
    details = dict(refusal.details)
    if isinstance(refusal, errors.RateLimited):
        headers["Retry-After"] = str(details["retry_after_seconds"])
    if refusal.status == errors.Unavailable.status:
        headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    if isinstance(refusal, errors.MethodNotAllowed) and "allow" in details:
        headers["Allow"] = details.pop("allow")
    if refusal.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="api"'
    details["documentation_url"] = links.error(refusal.code)
    details["request_id"] = logs.request_id.get()
    body = envelope(refusal, details, path=path)
    return Answer(refusal.status, orjson.dumps(tongue.told(body) if tongue else body), headers)


def envelope(refusal: Refusal, details: dict[str, Any], *, path: str) -> dict[str, Any]:
    """Build the error body; the assistant's is flat, and has a line of its message for each detail."""
    if path.startswith(ASSISTANT):
        named = {one["pointer"]: one["message"] for one in details.get("fields", ())}
        named |= {name: value for name, value in details.items() if name not in ("fields", *ALWAYS)}
        lines = [str(refusal), *(f"{_in_a_line(name)}: {_in_a_line(value)}" for name, value in named.items())]
        return {"code": refusal.code, "message": "\n".join(lines)[:LONGEST_FLAT], "status": "error"}
    return {"error": {"code": refusal.code, "message": refusal.args[0], "details": details}}


def _in_a_line(value: Any) -> str:
    """Write a detail, or its name, without the line breaks that a client's own words may have."""
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text.replace("\\", "\\\\").replace("\n", "\\n")
