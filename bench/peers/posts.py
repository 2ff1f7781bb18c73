"""The floor of deliveries: a bare httpx loop, the same POSTs with the same signature: `posts.py URL COUNT`."""

import asyncio
import base64
import hashlib
import hmac
import json
import sys
import time

import httpx

SECRET, AT_ONCE = b"0123456789abcdef0123456789abcdef", 16
DATA = {"session_id": "0190b6f1-7d3c-7a1e-9a51-0a6c1f6f0a01", "candidate_email": "zoe@example.com"}


def signed(number: int) -> tuple[bytes, dict[str, str]]:
    id, moment = f"evt_{number:032x}", str(int(time.time()))
    body = json.dumps({"id": id, "type": "assessment.started", "sequence": number, "data": DATA}).encode()
    whole = f"{id}.{moment}.".encode() + body
    first = base64.b64encode(hmac.digest(SECRET, whole, hashlib.sha256)).decode()
    second = hmac.new(SECRET, f"{moment}.".encode() + body, hashlib.sha256).hexdigest()
    return body, {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": moment,
        "webhook-signature": f"v1,{first}",
        "x-service-signature": f"t={moment},v1={second}",
    }


async def main(url: str, count: int) -> None:
    numbers = iter(range(count))
    async with httpx.AsyncClient(limits=httpx.Limits(max_connections=AT_ONCE), timeout=15) as client:

        async def send() -> None:
            for number in numbers:
                body, headers = signed(number)
                (await client.post(url, content=body, headers=headers)).raise_for_status()

        began = time.monotonic()
        await asyncio.gather(*(send() for _ in range(AT_ONCE)))
        print(count / (time.monotonic() - began))


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
