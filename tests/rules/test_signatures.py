import time
from base64 import b64decode

import pytest
import standardwebhooks
import stripe
import svix.webhooks

from rules import signatures, tokens

VECTOR = {
    "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    "id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "timestamp": 1614265330,
    "body": b'{"test": 2432232314}',
    "signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
}
BODY = '{"id":"evt_1","data":{"name":"Zoë Ōta 🎉"}}'.encode()


def test_the_published_vector_comes_out():
    made = signatures.sign([VECTOR["secret"]], VECTOR["id"], VECTOR["timestamp"], VECTOR["body"])
    assert made["webhook-signature"] == VECTOR["signature"]


def test_a_secret_is_a_prefix_and_32_random_bytes():
    secret = tokens.new_secret()
    assert secret.startswith("whsec_")
    assert len(b64decode(secret.removeprefix("whsec_"), validate=True)) == 32
    assert secret != tokens.new_secret()


@pytest.mark.parametrize("verifier", [standardwebhooks.Webhook, svix.webhooks.Webhook])
@pytest.mark.parametrize("position", [0, 1])
def test_published_standard_verifiers_accept_either_secret(verifier, position):
    secrets = [tokens.new_secret(), tokens.new_secret()]
    headers = signatures.headers(secrets, "evt_1", int(time.time()), BODY)
    assert len(headers["webhook-signature"].split(" ")) == 2
    verifier(secrets[position]).verify(BODY, headers)


@pytest.mark.parametrize("verifier", [standardwebhooks.Webhook, svix.webhooks.Webhook])
def test_published_standard_verifiers_refuse_a_changed_body(verifier):
    secret = tokens.new_secret()
    headers = signatures.headers([secret], "evt_1", int(time.time()), BODY)
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        verifier(secret).verify(BODY + b" ", headers)


@pytest.mark.parametrize("position", [0, 1])
def test_stripes_verifier_accepts_either_secret(position):
    secrets = [tokens.new_secret(), tokens.new_secret()]
    header = signatures.sign(secrets, "evt_1", int(time.time()), BODY)["X-Service-Signature"]
    assert stripe.WebhookSignature.verify_header(BODY.decode(), header, secrets[position], tolerance=300)


def test_stripes_verifier_refuses_a_changed_body():
    secret = tokens.new_secret()
    header = signatures.sign([secret], "evt_1", int(time.time()), BODY)["X-Service-Signature"]
    with pytest.raises(stripe.SignatureVerificationError):
        stripe.WebhookSignature.verify_header(BODY.decode() + " ", header, secret, tolerance=300)
