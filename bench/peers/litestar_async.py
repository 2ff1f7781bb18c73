"""Litestar with asyncpg.

Fair, since it is Litestar's own way (msgspec reads bodies, a dependency admits) and answers go past its serialising.
"""

from typing import Annotated, Any

import msgspec
import orjson
import raw_async as raw
import work
from litestar import Litestar, Request, Response, get, post
from litestar.di import Provide
from litestar.params import Parameter

Text = Annotated[str, msgspec.Meta(max_length=200)]
Tag = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]


class InvitationCreate(msgspec.Struct, forbid_unknown_fields=True):
    email: Annotated[str, msgspec.Meta(max_length=254)]
    name: Text = ""
    role: Text = ""
    external_id: Annotated[str, msgspec.Meta(min_length=1, max_length=255)] | None = None
    expires_days: Annotated[int, msgspec.Meta(ge=1, le=365)] = 7
    send_email: bool = False
    extra_time_percent: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0
    tags: list[Tag] = []


async def admitted(request: Request) -> Any:
    scope, reads = request.route_handler.opt["scope"], request.method == "GET"
    asked = work.asked(request.scope["path"], request.scope["client"][0])
    return asked, *await raw.admit(request.headers.get("authorization"), scope, reads=reads)


def answer(body: dict, asked: work.Asked, headers: dict, status: int = 200) -> Response:
    headers = {**headers, "X-Request-Id": asked.id}
    return Response(orjson.dumps(body), status_code=status, headers=headers, media_type="application/json")


def refuse(request: Request, refused: work.Refused) -> Response:
    request_id = work.asked(request.scope["path"], request.scope["client"][0]).id
    return Response(
        refused.body(request_id),
        status_code=refused.status,
        headers={"X-Request-Id": request_id},
        media_type="application/json",
    )


@get(work.PREFIX + "/assessments/{slug:str}/", scope="assessments:read")
async def get_assessment(slug: str, admitted: Any) -> Response:
    asked, caller, headers = admitted
    return answer(await raw.get_assessment(caller, slug), asked, headers)


@get(work.PREFIX + "/invites/", scope="invitations:read")
async def list_invitations(
    admitted: Any, page_size: Annotated[int, Parameter(ge=1, le=100)] = 20
) -> Response:
    asked, caller, headers = admitted
    return answer(await raw.list_invitations(caller, page_size), asked, headers)


@post(work.PREFIX + "/assessments/{slug:str}/invites/", scope="invitations:write")
async def create_invitation(slug: str, data: InvitationCreate, admitted: Any) -> Response:
    asked, caller, headers = admitted
    made, status = await raw.create_invitation(caller, slug, msgspec.structs.asdict(data), asked)
    return answer(made, asked, headers, status)


app = Litestar(
    [get_assessment, list_invitations, create_invitation],
    dependencies={"admitted": Provide(admitted)},
    exception_handlers={work.Refused: refuse},
    on_startup=[raw.start],
    on_shutdown=[raw.stop],
    openapi_config=None,
)
