"""Which names belong to credentials, and texts without the values of such names.

The tables below are the only definition: records, the audit, exports and the masking of web
requests all use `is_credential`.
"""

import re
from collections.abc import Callable
from urllib.parse import unquote_plus

MASK = "***"
# A name is a credential if it contains one of these, with any separators between its words.
PARTS = (
    *("authoriz", "cookie", "token", "secret", "password", "passwd", "passphrase"),
    *("apikey", "accesskey", "privatekey"),
)
# In requests, also a name with one of these words: X-Company-Key, auth, dbPass.
WORDS = frozenset(
    ("auth", "oauth", "authentication", "key", "keys", "pass", "passcode", "pw", "pwd", "otp")
    + ("sig", "signature", "sid", "session", "sessionid", "jwt", "bearer")
    + ("credential", "credentials")
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SEPARATOR = re.compile(r"[^a-z0-9]+")
# A reference to a stored secret instead of its value.
REFERENCE = re.compile(r"\{\{secret:([A-Za-z_][A-Za-z0-9_]{0,127})\}\}")
# The scheme of an Authorization header is not a credential.
_REFERENCES = re.compile(
    rf"(?:(?:Basic|Bearer|Token|ApiKey|Key)\s+)?(?:{REFERENCE.pattern})+", re.IGNORECASE
)
_USERINFO = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,20}://)([^/?#\s]*)@")
_PARAMETER = re.compile(r"([?&;#])([^=?&;#\s]+)=([^&;#\s]*)")

# Returns the replacement of a credential, from its name (`@` for the user part of a URL) and value.
Hide = Callable[[str, str], str]


def is_named_secret(name: str) -> bool:
    """Whether the name is a credential in any record."""
    joined = _SEPARATOR.sub("", name.lower())
    return any(part in joined for part in PARTS)


def is_credential(name: str) -> bool:
    """Whether a header, query parameter, form field or JSON key of this name is a credential."""
    words = _SEPARATOR.split(_CAMEL.sub("_", name).lower())
    return is_named_secret(name) or not WORDS.isdisjoint(words)


def is_reference(value: str) -> bool:
    """Whether the value consists of references to secrets only, which may be shown."""
    return _REFERENCES.fullmatch(value) is not None


def mask_value(_: str, value: str) -> str:
    return value if not value or is_reference(value) else MASK


def replace_in_text(text: str, hide: Hide) -> str:
    """The text with the credentials of every URL in it replaced."""
    if "://" not in text:
        return text
    return replace_in_parameters(_USERINFO.sub(lambda match: _userinfo(match, hide), text), hide)


def replace_in_parameters(text: str, hide: Hide) -> str:
    return _PARAMETER.sub(lambda match: _parameter(match, hide), text)


def _userinfo(match: re.Match[str], hide: Hide) -> str:
    start, userinfo = match.groups()
    password = userinfo.partition(":")[2]
    # The user name may be a token, so it is shown only together with a reference.
    is_shown = is_reference(password) or is_reference(userinfo)
    return f"{start}{userinfo if is_shown else hide('@', userinfo)}@"


def _parameter(match: re.Match[str], hide: Hide) -> str:
    start, name, value = match.groups()
    return f"{start}{name}={hide(name, value)}" if is_credential(unquote_plus(name)) else match[0]
