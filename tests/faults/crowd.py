"""An organisation that asks over fifty connections as fast as it is answered: `python -m tests.faults.crowd`."""

import asyncio
import itertools
import sys
from collections import Counter

import httpx

CONNECTIONS = 50
WRITES = 5  # of them


async def ask(key: str, slug: str, *bases: str) -> Counter[int]:
    """Ask until somebody interrupts; return how often each status was answered."""
    answers = Counter[int]()
    numbers = itertools.count(1)
    headers = {"Authorization": f"Bearer {key}"}

    async def one(base: str, *, writes: bool) -> None:
        path = f"{base}/api/v1/public/assessments/{slug}/"
        async with httpx.AsyncClient(headers=headers, timeout=60, trust_env=False) as http:
            while True:
                if writes:
                    body = {"email": f"crowd-{next(numbers)}@example.com"}
                    answer = await http.post(f"{path}invites/", json=body)
                else:
                    answer = await http.get(path)
                answers[answer.status_code] += 1
                if answers.total() == CONNECTIONS:
                    print("asking", flush=True)

    asking = [
        asyncio.ensure_future(one(bases[number % len(bases)], writes=number < WRITES))
        for number in range(CONNECTIONS)
    ]
    try:
        await asyncio.gather(*asking)
    except asyncio.CancelledError:
        return answers
    return answers


if __name__ == "__main__":
    print(f"the crowd was answered {dict(asyncio.run(ask(*sys.argv[1:])))}")
