# Whether a notification is signed: its headers, the raw body as bytes, and the operator's public key
import base64, re, time
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

def is_signed(headers, body, public_key):
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key.removeprefix("whpk_")))
    ident, sent, signatures = (headers.get(f"webhook-{name}") or "" for name in ("id", "timestamp", "signature"))
    if "." in ident or not re.fullmatch("[0-9]{1,12}", sent) or abs(time.time() - int(sent)) > 300:
        return False
    for signature in signatures.split():
        try:
            key.verify(base64.b64decode(signature.removeprefix("v1a,")), f"{ident}.{sent}.".encode() + body)
            return True
        except (InvalidSignature, ValueError):  # a ValueError if it is not base64
            pass
    return False
