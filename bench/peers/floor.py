"""The floor: ASGI, asyncpg and orjson, nothing between.

Fair, since there is little left to leave out: no framework, no routes, no parameters but those that are asked for.
"""

import json
from urllib.parse import parse_qsl

import orjson
import raw_async as raw
import work

ASSESSMENTS, INVITES = work.PREFIX + "/assessments/", work.PREFIX + "/invites/"
FIELDS = {
    "email": str,
    "name": str,
    "role": str,
    "external_id": (str, type(None)),
    "expires_days": int,
    "send_email": bool,
    "extra_time_percent": int,
    "tags": list,
}
DEFAULTS = {
    "name": "",
    "role": "",
    "external_id": None,
    "expires_days": 7,
    "send_email": False,
    "extra_time_percent": 0,
    "tags": [],
}


def read_body(body: bytes) -> dict:
    try:
        given = json.loads(body)
        assert set(given) <= set(FIELDS)
        assert "email" in given
        assert all(isinstance(value, FIELDS[name]) for name, value in given.items())
        whole = DEFAULTS | given
        assert len(whole["email"]) <= 254
        assert len(whole["name"]) <= 200
        assert 1 <= whole["expires_days"] <= 365
    except (ValueError, AssertionError) as fault:
        raise work.Refused(400, "VALIDATION_ERROR", "The request is not valid.") from fault
    return whole


async def serve(scope, receive, request: work.Asked, headers: dict) -> tuple[int, dict]:
    path, method = scope["path"], scope["method"]
    authorization = next(
        (value.decode() for name, value in scope["headers"] if name == b"authorization"), None
    )
    if method == "GET" and path == INVITES:
        caller, standing = await raw.admit(authorization, "invitations:read", reads=True)
        headers |= standing
        query = dict(parse_qsl(scope["query_string"].decode()))
        return 200, await raw.list_invitations(caller, work.page_size(query.get("page_size", "20")))
    if method == "GET" and path.startswith(ASSESSMENTS):
        caller, standing = await raw.admit(authorization, "assessments:read", reads=True)
        headers |= standing
        return 200, await raw.get_assessment(caller, path.removeprefix(ASSESSMENTS).strip("/"))
    if method == "POST" and path.endswith("/invites/"):
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message["body"], message.get("more_body", False)
        caller, standing = await raw.admit(authorization, "invitations:write", reads=False)
        headers |= standing
        slug = path.removeprefix(ASSESSMENTS).removesuffix("/invites/")
        answer, status = await raw.create_invitation(caller, slug, read_body(body), request)
        return status, answer
    raise work.Refused(404, "NOT_FOUND", "There is no such path.")


async def app(scope, receive, send) -> None:
    if scope["type"] == "lifespan":
        await receive()
        await raw.start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await raw.stop()
        await send({"type": "lifespan.shutdown.complete"})
        return
    request = work.asked(scope["path"], scope["client"][0])
    headers = {"X-Request-Id": request.id, "Content-Type": "application/json"}
    try:
        status, answer = await serve(scope, receive, request, headers)
        body = orjson.dumps(answer)
    except work.Refused as refused:
        status, body = refused.status, refused.body(request.id)
    headers["Content-Length"] = str(len(body))
    listed = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": listed})
    await send({"type": "http.response.body", "body": body})
