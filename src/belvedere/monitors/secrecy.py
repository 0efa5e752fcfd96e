"""What of a configuration may be shown, and the values that an agent gets in its place."""

from collections.abc import Callable
from typing import Any

import msgspec

from belvedere.base import request_masking
from belvedere.secrets import references

# Without one of these a configuration has nothing to hide; a list of thousands need not read it.
_SIGNS = ("@", "?", "#")


def has_request(text: str) -> bool:
    """Whether the JSON of a configuration may hold credentials."""
    if '"url":' not in text:
        return False
    is_bare = '"headers":{}' in text and '"body":""' in text
    return not is_bare or any(sign in text for sign in _SIGNS)


def hidden_fields(text: str) -> dict[str, Any]:
    """What the database must not hold in clear, as it may be shown; by the field's name."""
    return request_masking.credentials(msgspec.json.decode(text)) if has_request(text) else {}


def shown_config(config: dict[str, Any]) -> dict[str, Any]:
    """Of a monitor, or of its definition, which may hold a configuration inside."""
    found = request_masking.shown(config) if "url" in config or "headers" in config else config
    inner = found.get("config")
    return {**found, "config": shown_config(inner)} if isinstance(inner, dict) else found


def unmasked(config: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
    """Put hidden values back where a record was sent as it had been shown."""
    inner, before = config.get("config"), old.get("config")
    known = {**before, **old} if isinstance(before, dict) else old
    found = request_masking.restored(config, known)
    return {**found, "config": unmasked(inner, known)} if isinstance(inner, dict) else found


def for_agent(config: dict[str, Any], values: Callable[[], dict[str, str]]) -> dict[str, Any]:
    """A web check with the secrets that it refers to, and what its agent must not repeat.
    `problem`: why it cannot be made. `values` is asked only where there is a reference."""
    found = dict(config)
    masks = request_masking.literals(config)
    if names := references.names_in(config):
        known = values()
        masks += [known[name] for name in sorted(names) if name in known]
        try:
            found = references.resolved(config, known)
        except references.Missing as missing:
            found["problem"] = str(missing)
    return {**found, "masks": masks} if masks else found
