"""The cookie that carries a browser's session. Scripts on the page cannot read it."""

from collections.abc import Mapping

# The prefix makes browsers refuse it without Secure, from a sub-domain, or for a narrower path.
SECURE, PLAIN = "__Host-belvedere", "belvedere"


def baked(token: str, *, secure: bool, life_s: int) -> str:
    """The value of a Set-Cookie header."""
    name = SECURE if secure else PLAIN
    tail = "; Secure" if secure else ""
    return f"{name}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age={life_s}{tail}"


def cleared(*, secure: bool) -> str:
    return baked("", secure=secure, life_s=0)


def token_in(cookies: Mapping[str, str], *, secure: bool) -> str | None:
    """The session token of a request. Over https the plain name does not count: anybody on the
    way could have set it."""
    return cookies.get(SECURE if secure else PLAIN) or None
