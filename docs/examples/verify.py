# Whether a notification is signed: its headers, the raw body as bytes, and the operator's public key
import base64, time
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

def is_signed(headers, body, public_key):
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key.removeprefix("whpk_")))
    ident, sent = headers["webhook-id"], headers["webhook-timestamp"]
    if "." in ident or abs(time.time() - int(sent)) > 300:
        return False
    for signature in headers["webhook-signature"].split():
        try:
            key.verify(base64.b64decode(signature.removeprefix("v1a,")), f"{ident}.{sent}.".encode() + body)
            return True
        except InvalidSignature:
            pass
    return False
