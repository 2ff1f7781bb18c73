"""The rival of deliveries: aiohttp posting the same bodies with the same signatures: `posts.py URL COUNT CONNECTIONS`.

Fair, since it is aiohttp at its fastest: uvloop, one session that keeps its connections, no more tasks than these,
orjson, and nothing is claimed from a database before a POST nor written down after it.
"""

import asyncio
import base64
import gc
import hashlib
import hmac
import sys
import time

import aiohttp
import orjson
import uvloop

SECRET = b"0123456789abcdef0123456789abcdef"
DATA = {
    "session_id": "0190b6f1-7d3c-7a1e-9a51-0a6c1f6f0a01",
    "assessment_title": "Backend engineer",
    "candidate_email": "zoe@example.com",
    "candidate_name": "Zoë Ōta",
    "started_at": "2026-03-01T12:00:00.000Z",
}


def signed(number: int) -> tuple[bytes, dict[str, str]]:
    id, moment = f"evt_{number:032x}", str(int(time.time()))
    body = orjson.dumps({"id": id, "type": "assessment.started", "sequence": number, "data": DATA})
    whole = f"{id}.{moment}.".encode() + body
    first = base64.b64encode(hmac.digest(SECRET, whole, hashlib.sha256)).decode()
    second = hmac.digest(SECRET, f"{moment}.".encode() + body, hashlib.sha256).hex()
    return body, {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": moment,
        "webhook-signature": f"v1,{first}",
        "x-service-signature": f"t={moment},v1={second}",
    }


async def main(url: str, count: int, connections: int) -> None:
    numbers = iter(range(count))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=connections)) as session:
        gc.freeze()

        async def send() -> None:
            for number in numbers:
                body, headers = signed(number)
                async with session.post(url, data=body, headers=headers) as answer:
                    answer.raise_for_status()
                    await answer.read()

        began = time.monotonic()
        await asyncio.gather(*(send() for _ in range(connections)))
        print(count / (time.monotonic() - began))


uvloop.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
