"""Single values of a query string; errors name the parameter."""

import re

from belvedere.base.clock import parse_iso
from belvedere.base.errors import Fault, Invalid

WIDEST = 2**63
BOOLS = {"true": 1, "1": 1, "false": 0, "0": 0}


def invalid_query(name: str, message: str, code: str = "bad_query") -> Invalid:
    return Invalid(message, code=code, faults=(Fault(name, message),))


def text(name: str, value: str) -> str:
    # PostgreSQL cannot store them; refused here so that both engines behave the same.
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise invalid_query(
            name, f"{name} contains invalid characters (NUL or an unpaired surrogate)."
        )
    return value


def integer(name: str, value: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,19}", value) or not -WIDEST <= int(value) < WIDEST:
        raise invalid_query(name, f"{name} must be an integer.")
    return int(value)


def boolean(name: str, value: str) -> int:
    if value.lower() not in BOOLS:
        raise invalid_query(name, f"{name} must be true or false.")
    return BOOLS[value.lower()]


def time(name: str, value: str) -> int:
    """Milliseconds, from ISO 8601 or from a number of milliseconds."""
    if re.fullmatch(r"[0-9]{9,16}", value):
        return int(value)
    try:
        return parse_iso(value)
    except (ValueError, OverflowError):
        raise invalid_query(
            name, f"{name} must be a time such as 2026-01-31T08:00:00.000Z."
        ) from None
