"""Validation of configurations: all faults at once."""

from collections.abc import Iterator
from typing import Any

import msgspec

from belvedere.base.clock import range_text
from belvedere.base.errors import Fault, Invalid
from belvedere.monitors.config.kinds import MONITOR_KINDS
from belvedere.monitors.model import MAX_TIMEOUT, MIN_TIMEOUT, TIMEOUT, MonitorType
from belvedere.rest.bodies.conversion import convert

MAX_TEXT = 64 * 1024


def validate(type_: MonitorType, values: dict[str, Any]) -> dict[str, Any]:
    """The configuration of a monitor of this type; raises Invalid with every wrong field."""
    kind = MONITOR_KINDS[type_]
    try:
        config = convert(values, kind.config)
    except msgspec.ValidationError as fault:
        reason, _, where = str(fault).partition(" - at `$")
        raise invalid_fields(
            [Fault(where.rstrip("`").lstrip(".") or "config", f"{reason}.")]
        ) from None
    faults = [Fault(field, message) for field, message in kind.check(config)]
    faults += [
        Fault(name, "Contains NUL or an unpaired surrogate, or is too long.")
        for name in _invalid_texts(config)
    ]
    timeout = getattr(config, "timeout", TIMEOUT)
    if not MIN_TIMEOUT <= timeout <= MAX_TIMEOUT:
        faults.append(Fault("timeout", f"Must be {range_text(MIN_TIMEOUT, MAX_TIMEOUT)}."))
    if faults:
        raise invalid_fields(faults)
    builtins: dict[str, Any] = msgspec.to_builtins(config)
    return builtins


def _invalid_texts(config: msgspec.Struct) -> Iterator[str]:
    for name in config.__struct_fields__:
        value = getattr(config, name)
        texts = value if isinstance(value, list) else [value]
        texts = [*value, *value.values()] if isinstance(value, dict) else texts
        for text in texts:
            if isinstance(text, str) and (len(text) > MAX_TEXT or not _is_text(text)):
                yield name


def _is_text(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def invalid_fields(faults: list[Fault]) -> Invalid:
    message = "; ".join(f"{fault.field}: {fault.message}" for fault in faults)
    return Invalid(message, code="invalid_body", faults=tuple(faults))
