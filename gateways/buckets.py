"""Files in a bucket of an S3-compatible store, each exchange ended when its time is over."""

import io
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from gateways.exchanges import exchange

SECONDS = 30.0  # for the bucket to take, give or delete one file, a second attempt included


class Bucket:
    """Files in a bucket of an S3-compatible store."""

    def __init__(self, name: str, *, endpoint: str, region: str, access_key: str, secret_key: str) -> None:
        try:
            import boto3  # noqa: PLC0415 - an extra that a folder does not need
            from botocore.config import Config  # noqa: PLC0415 - the same
        except ImportError as error:
            raise RuntimeError("Keeping files in S3 needs the extra: pip install 'hiring[s3]'.") from error
        self.name = name
        self.client: Any = boto3.client(
            "s3",
            endpoint_url=endpoint or None,
            region_name=region or None,
            # Without keys of ours the library looks where it always does, a machine's role for one.
            aws_access_key_id=access_key or None,
            aws_secret_access_key=secret_key or None,
            # What it would add to a body is not known to every store that speaks S3.
            config=Config(retries={"max_attempts": 2}, request_checksum_calculation="when_required"),
        )
        self._until = threading.local()
        self.client.meta.events.register("before-send.s3", self._send)

    def _send(self, request: Any, **_: Any) -> Any:
        """Send what the library has signed, in its place: its own limits are for each step of an exchange."""
        from botocore.awsrequest import AWSResponse  # noqa: PLC0415 - as above
        from botocore.exceptions import EndpointConnectionError, ReadTimeoutError  # noqa: PLC0415 - as above

        headers = {name: _text(value) for name, value in request.headers.items() if name.lower() != "expect"}
        try:
            answer = exchange(
                request.method,
                request.url,
                seconds=max(0.1, self._until.moment - time.monotonic()),
                headers=headers,
                content=request.body.read() if hasattr(request.body, "read") else request.body,
            )
        except TimeoutError as fault:
            raise ReadTimeoutError(endpoint_url=request.url, error=fault) from fault
        except httpx.HTTPError as fault:
            raise EndpointConnectionError(endpoint_url=request.url, error=fault) from fault
        return AWSResponse(request.url, answer.status_code, answer.headers, _Raw(answer.content))

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        self._until.moment = time.monotonic() + SECONDS
        yield

    def put(self, key: str, content: bytes) -> None:
        """Upload."""
        with self._in_time():
            self.client.put_object(Bucket=self.name, Key=key, Body=content)

    def get(self, key: str) -> bytes | None:
        """Download."""
        try:
            with self._in_time():
                body: bytes = self.client.get_object(Bucket=self.name, Key=key)["Body"].read()
        except self.client.exceptions.NoSuchKey:
            return None
        return body

    def delete(self, key: str) -> None:
        """Delete."""
        with self._in_time():
            self.client.delete_object(Bucket=self.name, Key=key)


class _Raw(io.BytesIO):
    """An answer's body as the library reads it."""

    def stream(self, amount: int = 1 << 16, **_: Any) -> Iterator[bytes]:
        """Give it in pieces."""
        while piece := self.read(amount):
            yield piece


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
