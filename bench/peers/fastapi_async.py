"""FastAPI with asyncpg: what somebody builds who wants it fast.

Fair, since it is FastAPI's own way (pydantic reads bodies, dependencies admit) and answers go past its serialising.
"""

from contextlib import asynccontextmanager
from typing import Annotated

import orjson
import raw_async as raw
import work
from fastapi import Depends, FastAPI, Header, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field


class InvitationCreate(BaseModel):
    model_config = ConfigDict(extra="forbid")
    email: str = Field(max_length=254)
    name: str = Field("", max_length=200)
    role: str = Field("", max_length=200)
    external_id: str | None = Field(None, min_length=1, max_length=255)
    expires_days: int = Field(7, ge=1, le=365)
    send_email: bool = False
    extra_time_percent: int = Field(0, ge=0, le=100)
    tags: list[Annotated[str, Field(min_length=1, max_length=64)]] = Field([], max_length=20)


@asynccontextmanager
async def lifespan(_app):
    await raw.start()
    yield
    await raw.stop()


app = FastAPI(lifespan=lifespan, openapi_url=None)


class Admitted:
    """A dependency: who asks, and where the limit stands."""

    def __init__(self, scope: str, *, reads: bool = True) -> None:
        self.scope, self.reads = scope, reads

    async def __call__(self, request: Request, authorization: Annotated[str | None, Header()] = None):
        asked = work.asked(request.url.path, request.client.host)
        return asked, *await raw.admit(authorization, self.scope, reads=self.reads)


def answer(body: dict, asked: work.Asked, headers: dict, status: int = 200) -> Response:
    headers = {**headers, "X-Request-Id": asked.id}
    return Response(orjson.dumps(body), status, headers, media_type="application/json")


@app.exception_handler(work.Refused)
async def refuse(request: Request, refused: work.Refused) -> Response:
    request_id = work.asked(request.url.path, request.client.host).id
    return Response(
        refused.body(request_id), refused.status, {"X-Request-Id": request_id}, "application/json"
    )


@app.get(work.PREFIX + "/assessments/{slug}/")
async def get_assessment(slug: str, admitted: Annotated[tuple, Depends(Admitted("assessments:read"))]):
    asked, caller, headers = admitted
    return answer(await raw.get_assessment(caller, slug), asked, headers)


@app.get(work.PREFIX + "/invites/")
async def list_invitations(
    admitted: Annotated[tuple, Depends(Admitted("invitations:read"))],
    page_size: Annotated[int, Query(ge=1, le=100)] = 20,
):
    asked, caller, headers = admitted
    return answer(await raw.list_invitations(caller, page_size), asked, headers)


@app.post(work.PREFIX + "/assessments/{slug}/invites/")
async def create_invitation(
    slug: str,
    body: InvitationCreate,
    admitted: Annotated[tuple, Depends(Admitted("invitations:write", reads=False))],
):
    asked, caller, headers = admitted
    made, status = await raw.create_invitation(caller, slug, body.model_dump(), asked)
    return answer(made, asked, headers, status)
