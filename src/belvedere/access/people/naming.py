"""Valid names of organizations, people and tags."""

import re
import unicodedata

from belvedere.access.actor import MEMBER_LEVELS, Level
from belvedere.base.errors import Fault, Invalid
from belvedere.base.ids import is_id

# No colon in an e-mail, neither colon nor @ in a user name (`username_from`): so an e-mail, a user
# name and a member tag (key:value) can never be mistaken for each other in an ACL.
_ORGANIZATION = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_EMAIL = re.compile(r"[^\s@:,;<>\"\\]{1,64}@[^\s@:,;<>\"\\]{1,189}")
_TAG = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}:[^\s,]{1,64}")

MAX_TAGS = 64
MAX_PERSON = 128
# The longest e-mail address that the pattern allows. A longer one is not normalized at all.
MAX_EMAIL = 64 + 1 + 189


def customer_name(text: str, reserved: frozenset[str]) -> str:
    """The name of an organization, in lower case. First segments of our own paths are reserved."""
    name = customer_key(text)
    if name is None:
        raise _invalid_field(
            "name",
            "A name has 1 to 64 characters (a-z, 0-9, '.', '_', '-') and begins with a-z or 0-9.",
        )
    if name in reserved:
        raise _invalid_field("name", f"{name!r} is reserved. Choose another name.")
    return name


def customer_key(text: str) -> str | None:
    """The form in which names are compared; None for an invalid name."""
    key = text.strip().lower()
    return key if _ORGANIZATION.fullmatch(key) else None


def email(text: str) -> str:
    """The address in lower case. Letters that only look like others (a Kelvin sign for a K) are
    refused: lower case or a mail server would turn them into another person's address."""
    address = text.strip()
    is_plain = len(address) <= MAX_EMAIL and address == unicodedata.normalize("NFKC", address)
    address = address.lower()
    if not is_plain or not _EMAIL.fullmatch(address) or not address.isprintable():
        raise _invalid_field("email", "Enter one e-mail address, such as ada@example.com.")
    return address


def username_from(address: str) -> str:
    """A proposal, from an e-mail address."""
    local = re.sub(r"[^a-z0-9._-]", "", address.partition("@")[0]).lstrip("._-")[:48]
    return local if local and not is_id(local) else "user"


def person(text: str) -> str:
    """A person's or a token's name: one line of printable text."""
    # Cut first: normalization takes quadratic time, and makes at most one character of four.
    name = unicodedata.normalize("NFC", text[: 4 * MAX_PERSON + 1]).strip()
    if max(len(name), len(text) // 4) > MAX_PERSON or not name.isprintable():
        raise _invalid_field("name", "A name is one line of at most 128 characters.")
    return name


def tags(texts: list[str]) -> list[str]:
    """In lower case, without duplicates, in the same order."""
    if len(texts) > 4 * MAX_TAGS:
        raise _invalid_field("tags", f"At most {MAX_TAGS} tags are allowed.")
    values = list(dict.fromkeys(text.strip().lower() for text in texts))
    faults = tuple(
        Fault(f"tags[{n}]", f"{tag[:130]!r} is not key:value")
        for n, tag in enumerate(values)
        if not _TAG.fullmatch(tag) or not tag.isprintable()
    )
    if faults or len(values) > MAX_TAGS:
        raise Invalid(
            f"Tags must have the form key:value, and there can be at most {MAX_TAGS}.",
            code="bad_tags",
            faults=faults,
        )
    return values


def level(text: str) -> Level:
    """A level that a member can have."""
    if text not in MEMBER_LEVELS:
        raise _invalid_field("credential", f"The level must be one of {', '.join(MEMBER_LEVELS)}.")
    return Level(text)


def _invalid_field(field: str, message: str) -> Invalid:
    return Invalid(message, code=f"bad_{field}", faults=(Fault(field, message),))
