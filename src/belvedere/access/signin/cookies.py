"""The cookies of a browser: its session, and the token by which it is recognized at the next
sign-in. Scripts on the page cannot read them."""

from collections.abc import Mapping

# The prefix makes browsers refuse it without Secure, from a sub-domain, or for a narrower path.
SECURE, PLAIN = "__Host-belvedere", "belvedere"
SECURE_BROWSER, PLAIN_BROWSER = "__Host-belvedere-browser", "belvedere-browser"
# As long as the session that it belongs to is stored after its end.
BROWSER_LIFE_S = 37 * 86_400
# The headers of a reply are a mapping with one value per spelling. HTTP ignores the case of names.
SECOND_SET_COOKIE = "Set-Cookie"


def session_cookie(token: str, *, secure: bool, life_s: int) -> str:
    """The value of a Set-Cookie header."""
    name = SECURE if secure else PLAIN
    tail = "; Secure" if secure else ""
    return f"{name}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age={life_s}{tail}"


def expired_cookie(*, secure: bool) -> str:
    return session_cookie("", secure=secure, life_s=0)


def session_token(cookies: Mapping[str, str], *, secure: bool) -> str | None:
    """The session token of a request. Over https the plain name is ignored: anybody on the network
    path could have set it."""
    return cookies.get(SECURE if secure else PLAIN) or None


def browser_cookie(token: str, *, secure: bool) -> str:
    """Lax, not Strict: the browser must be recognised when a provider redirects back. The cookie
    grants nothing."""
    name, tail = (SECURE_BROWSER, "; Secure") if secure else (PLAIN_BROWSER, "")
    return f"{name}={token}; Path=/; HttpOnly; SameSite=Lax; Max-Age={BROWSER_LIFE_S}{tail}"


def browser_token(cookies: Mapping[str, str], *, secure: bool) -> str | None:
    return cookies.get(SECURE_BROWSER if secure else PLAIN_BROWSER) or None
