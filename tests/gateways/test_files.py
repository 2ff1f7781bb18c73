"""Files in a folder and in an S3-compatible store: the same promises."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gateways.buckets import Bucket
from gateways.files import Folder, Store

NO_SUCH_KEY = b"<?xml version='1.0'?><Error><Code>NoSuchKey</Code><Message>None.</Message></Error>"


class _S3(BaseHTTPRequestHandler):
    """As much of S3 as keeps objects: PUT, GET and DELETE on /bucket/key, for requests that are signed."""

    protocol_version = "HTTP/1.1"
    objects: dict[str, bytes]

    def do_PUT(self) -> None:
        assert self.headers["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=an-id/")
        self.objects[self.path.partition("?")[0]] = self._body()
        self._answer(200)

    def do_GET(self) -> None:
        found = self.objects.get(self.path.partition("?")[0])
        self._answer(404, NO_SUCH_KEY) if found is None else self._answer(200, found)

    def do_DELETE(self) -> None:
        self.objects.pop(self.path.partition("?")[0], None)
        self._answer(204)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked" and "aws-chunked" not in self.headers.get(
            "Content-Encoding", ""
        ):
            return self.rfile.read(int(self.headers["Content-Length"]))
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        body, rest = b"", raw
        while rest:  # size;signature CRLF bytes CRLF, until a size of 0
            line, _, rest = rest.partition(b"\r\n")
            size = int(line.partition(b";")[0], 16)
            if not size:
                break
            body, rest = body + rest[:size], rest[size + 2 :]
        return body

    def _answer(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Tests speak for themselves."""


@pytest.fixture(params=["folder", "bucket"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "folder":
        yield Folder(tmp_path / "files")
        return
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("S3", (_S3,), {"objects": {}}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    yield Bucket("cvs", endpoint=endpoint, region="eu-central-1", access_key="an-id", secret_key="a secret")
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("content", [b"", b"text", bytes(range(256)) * 5_000, b"x" * (10 << 20)], ids=len)
def test_what_is_kept_is_there_until_it_is_let_go(files: Store, content: bytes) -> None:
    files.put("attachments/a/1", content)
    files.put("attachments/a/2", b"another")
    assert files.get("attachments/a/1") == content
    files.delete("attachments/a/1")
    files.delete("attachments/a/1")  # again
    assert files.get("attachments/a/1") is None
    assert files.get("attachments/a/2") == b"another"


def test_nobody_reads_half_of_a_file(files: Store) -> None:
    whole = [bytes([letter]) * 200_000 for letter in b"ab"]
    files.put("one", whole[0])
    with ThreadPoolExecutor(4) as pool:
        writes = [pool.submit(files.put, "one", whole[number % 2]) for number in range(20)]
        reads = [pool.submit(files.get, "one") for _ in range(40)]
        assert all(one.result() is None for one in writes)
        assert {one.result() for one in reads} <= set(whole)


@pytest.mark.parametrize("key", ["../outside", "a/../../outside", "/etc/passwd"])
def test_no_key_leaves_the_folder(tmp_path: Path, key: str) -> None:
    files = Folder(tmp_path / "files")
    with pytest.raises(ValueError, match="leaves the folder"):
        files.put(key, b"x")
    with pytest.raises(ValueError, match="leaves the folder"):
        files.get(key)


def test_files_in_the_folder_are_for_the_service_alone(tmp_path: Path) -> None:
    files = Folder(tmp_path / "files")
    files.put("a/b", b"x")
    assert (tmp_path / "files" / "a" / "b").stat().st_mode & 0o077 == 0
    assert [path.name for path in (tmp_path / "files" / "a").iterdir()] == ["b"]
