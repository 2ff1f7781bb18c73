"""A process of its own that is a company's sign-in: OpenID Connect, as it should be and as told to misbehave.

`python -m tests.company` prints its port and serves until its standard input ends. How it answers from then on is said
at POST /how: what its tokens claim, which key signs them, what its addresses do. Who comes to /authorize is signed in.
"""

import functools
import json
import time
from base64 import b64decode, urlsafe_b64encode
from hashlib import sha256
from http.server import BaseHTTPRequestHandler
from typing import Any, ClassVar
from urllib.parse import parse_qs, unquote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener, urlopen

from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey, RSAKey

from tests.beside import serve, start

CLIENT, SECRET = "hiring", "a secret of both"
FOREVER = 600
KEYS = {
    "first": RSAKey.generate_key(2048, {"kid": "first", "use": "sig"}),
    "second": ECKey.generate_key("P-256", {"kid": "second"}),
}
STRANGE = RSAKey.generate_key(2048, {"kid": "first"})


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    how: ClassVar[dict[str, Any]] = {}
    codes: ClassVar[dict[str, dict[str, str]]] = {}
    seen: ClassVar[list[str]] = []

    @property
    def issuer(self) -> str:
        return f"http://{self.headers['host']}"

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path == "/seen":
            return self.answer(self.seen)
        self.seen.append(path)
        if self.misbehaves(path):
            return None
        if path == "/.well-known/openid-configuration":
            known = {"issuer": self.issuer, "authorization_endpoint": f"{self.issuer}/authorize"}
            known |= {"token_endpoint": f"{self.issuer}/token", "jwks_uri": f"{self.issuer}/keys"}
            return self.answer(known | self.how.get("publishes", {}))
        if path == "/keys":
            names = self.how.get("keys", ["first"])
            return self.answer(KeySet([KEYS[name] for name in names]).as_dict(private=False))
        asked = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        assert (path, asked["response_type"], asked["client_id"]) == ("/authorize", "code", CLIENT)
        assert asked["code_challenge_method"] == "S256"
        code = f"code-{len(self.codes)}"
        self.codes[code] = asked
        self.send_response(302)
        self.send_header(
            "Location", f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"
        )
        self.send_header("Content-Length", "0")
        return self.end_headers()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/how":
            type(self).how = json.loads(body)
            self.seen.clear()
            return self.answer({})
        self.seen.append(self.path)
        if self.misbehaves(self.path):
            return None
        given = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        asked = self.codes.pop(given["code"], None)
        who = b64decode(self.headers["authorization"].removeprefix("Basic ")).decode()
        drawn = sha256(given["code_verifier"].encode()).digest()
        challenge = urlsafe_b64encode(drawn).rstrip(b"=").decode()
        if (
            asked is None
            or asked["code_challenge"] != challenge
            or asked["redirect_uri"] != given["redirect_uri"]
        ):
            return self.answer({"error": "invalid_grant"}, 400)
        if unquote(who) != f"{CLIENT}:{SECRET}":
            return self.answer({"error": "invalid_client"}, 401)
        return self.answer(
            {"access_token": "of no use", "token_type": "Bearer", "id_token": self.token(asked["nonce"])}
        )

    def token(self, nonce: str) -> str:
        moment = int(time.time())
        claims = {"iss": self.issuer, "sub": "248289761001", "aud": CLIENT, "nonce": nonce, "iat": moment}
        claims |= {"exp": moment + 300, "email_verified": True}
        claims |= self.how.get("claims", {})
        claims = {name: value for name, value in claims.items() if value is not None}
        claims |= {name: moment + by for name, by in self.how.get("moments", {}).items()}
        signed_by = self.how.get("signed_by", "first")
        if signed_by == "nobody":
            parts = [json.dumps(one).encode() for one in ({"alg": "none"}, claims)]
            return ".".join([*(urlsafe_b64encode(one).rstrip(b"=").decode() for one in parts), ""])
        if signed_by == "the secret":
            return jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(SECRET * 3), ["HS256"])
        key = STRANGE if signed_by == "a stranger" else KEYS[signed_by]
        alg = "ES256" if signed_by == "second" else "RS256"
        return jwt.encode({"alg": alg, "kid": key.kid}, claims, key)

    def misbehaves(self, path: str) -> bool:
        deed = self.how.get("does", {}).get(path)
        if deed == "stalls":
            time.sleep(FOREVER)
        elif deed == "fails":
            self.answer({"error": "server_error"}, 500)
        elif deed == "garbage":
            self.answer("<html>It works</html>")
        elif deed == "endless":
            self.answer({"more": "x" * (1 << 20)})
        elif deed == "redirects":
            self.answer({}, 302)
        return deed is not None

    def answer(self, value: Any, status: int = 200) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Tests speak for themselves."""


class _Stays(HTTPRedirectHandler):
    def redirect_request(self, *args: Any) -> None:
        return None


class Company:
    """The process, from outside."""

    def __init__(self, port: int) -> None:
        self.issuer = f"http://127.0.0.1:{port}"

    def tell(self, **how: Any) -> None:
        """Say how it answers from now on."""
        body = json.dumps(how).encode()
        urlopen(Request(f"{self.issuer}/how", data=body), timeout=30).close()

    def seen(self) -> list[str]:
        """The paths that it was asked for since it was told how."""
        with urlopen(f"{self.issuer}/seen", timeout=30) as answer:
            return list(json.load(answer))

    def sign_in(self, url: str) -> dict[str, str]:
        """What somebody's browser comes back with who signs in at an address of its."""
        try:
            build_opener(_Stays).open(url, timeout=30)
        except OSError as answer:
            there = answer.headers["Location"]  # type: ignore[attr-defined]
            return {name: values[0] for name, values in parse_qs(urlsplit(there).query).items()}
        raise AssertionError


@functools.cache
def company() -> Company:
    """Start it, once for each process of tests; it ends with that."""
    return Company(start("tests.company"))


if __name__ == "__main__":
    serve(Handler)
