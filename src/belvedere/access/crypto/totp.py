"""Time-based one-time codes, which an app and the server compute from one secret (RFC 6238)."""

import base64
import hashlib
import hmac
import io
import secrets
from urllib.parse import quote, urlencode

from belvedere.base.clock import SECOND, Millis

# What every app supports; other values are in the standard, but not in the apps.
DIGITS, STEP, WINDOW = 6, 30 * SECOND, 1
_SECRET_BYTES = 20
_ISSUER = "Belvedere"


def new_secret() -> str:
    """160 random bits in base32, which people can type into an app."""
    return base64.b32encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def code_at(secret: str, step: int) -> str:
    """The code of one time step (RFC 4226, 5.3)."""
    mac = hmac.digest(base64.b32decode(secret), step.to_bytes(8, "big"), hashlib.sha1)
    offset = mac[-1] & 0x0F
    number = int.from_bytes(mac[offset : offset + 4], "big") & 0x7FFF_FFFF
    return f"{number % 10**DIGITS:0{DIGITS}}"


def matching_step(secret: str, code: str, now: Millis, after: int) -> int | None:
    """The time step of this code: the current, the previous or the next one, but only one later
    than `after`."""
    middle = now // STEP
    steps = range(middle - WINDOW, middle + WINDOW + 1)
    # All are compared, whichever matches: the time must reveal nothing.
    fitting = [step for step in steps if hmac.compare_digest(code_at(secret, step), code)]
    return next((step for step in fitting if step > after), None)


def uri(secret: str, email: str) -> str:
    """The address that an app reads from the QR code."""
    query = {"secret": secret, "issuer": _ISSUER, "algorithm": "SHA1"}
    query |= {"digits": str(DIGITS), "period": str(STEP // SECOND)}
    return f"otpauth://totp/{_ISSUER}:{quote(email, safe='')}?{urlencode(query)}"


def qr_svg(text: str) -> str:
    """A QR code as SVG: only paths, dark on light whatever the page's colours."""
    # Imported here because only the set-up of a second factor needs it.
    import segno

    drawn = io.BytesIO()
    bare = {"xmldecl": False, "nl": False, "omitsize": True, "svgclass": None, "lineclass": None}
    segno.make_qr(text, error="m").save(drawn, kind="svg", light="#fff", **bare)
    return drawn.getvalue().decode()
