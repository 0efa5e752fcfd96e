"""Which names carry credentials, and texts without the values of such names.

The table below is the only place that decides it: records, the audit, exports and the masks of web
requests all ask `is_credential`.
"""

import re
from collections.abc import Callable
from urllib.parse import unquote_plus

MASK = "***"
# A name is a credential if it contains one of these, whatever separates its words.
PARTS = (
    *("authoriz", "cookie", "token", "secret", "password", "passwd", "passphrase"),
    *("apikey", "accesskey", "privatekey"),
)
# In requests it is one also if one of its words is among these: X-Company-Key, auth, dbPass.
WORDS = frozenset(
    ("auth", "oauth", "authentication", "key", "keys", "pass", "passcode", "pw", "pwd", "otp")
    + ("sig", "signature", "sid", "session", "sessionid", "jwt", "bearer")
    + ("credential", "credentials")
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SEPARATOR = re.compile(r"[^a-z0-9]+")
# Somebody refers to a stored secret instead of writing its value.
REFERENCE = re.compile(r"\{\{secret:([A-Za-z_][A-Za-z0-9_]{0,127})\}\}")
# The scheme of an Authorization header is no credential.
_REFERENCES = re.compile(
    rf"(?:(?:Basic|Bearer|Token|ApiKey|Key)\s+)?(?:{REFERENCE.pattern})+", re.IGNORECASE
)
_USERINFO = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,20}://)([^/?#\s]*)@")
_PARAMETER = re.compile(r"([?&;#])([^=?&;#\s]+)=([^&;#\s]*)")

# What takes the place of a credential: of its name (`@` before the host of an address) and value.
Hide = Callable[[str, str], str]


def is_named_secret(name: str) -> bool:
    """Certainly a credential, whatever record the name comes from."""
    joined = _SEPARATOR.sub("", name.lower())
    return any(part in joined for part in PARTS)


def is_credential(name: str) -> bool:
    """Of a header, a query parameter, a form field or a JSON key."""
    words = _SEPARATOR.split(_CAMEL.sub("_", name).lower())
    return is_named_secret(name) or not WORDS.isdisjoint(words)


def is_reference(value: str) -> bool:
    """Nothing but references to secrets: this may be shown."""
    return _REFERENCES.fullmatch(value) is not None


def masked(_: str, value: str) -> str:
    return value if not value or is_reference(value) else MASK


def in_text(text: str, hide: Hide) -> str:
    """A text with the credentials of every address in it replaced."""
    if "://" not in text:
        return text
    return in_parameters(_USERINFO.sub(lambda found: _userinfo(found, hide), text), hide)


def in_parameters(text: str, hide: Hide) -> str:
    return _PARAMETER.sub(lambda found: _parameter(found, hide), text)


def _userinfo(found: re.Match[str], hide: Hide) -> str:
    start, userinfo = found.groups()
    password = userinfo.partition(":")[2]
    # A token may be the name, so the name is shown only beside a reference.
    is_shown = is_reference(password) or is_reference(userinfo)
    return f"{start}{userinfo if is_shown else hide('@', userinfo)}@"


def _parameter(found: re.Match[str], hide: Hide) -> str:
    start, name, value = found.groups()
    return f"{start}{name}={hide(name, value)}" if is_credential(unquote_plus(name)) else found[0]
