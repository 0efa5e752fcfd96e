"""What of a configuration may be shown, and the values that an agent gets in its place."""

from collections.abc import Callable
from typing import Any

import msgspec

from belvedere.base.text import argument_masking, request_masking
from belvedere.secrets import references

# Without one of these a configuration has nothing to hide; a list of thousands need not read it.
_SIGNS = ("@", "?", "#")


def may_hide(text: str) -> bool:
    """Whether the JSON of a configuration may hold credentials."""
    if '"url":' not in text:
        return '"script_arguments":[' in text and '"script_arguments":[]' not in text
    is_bare = '"headers":{}' in text and '"body":""' in text
    return not is_bare or any(sign in text for sign in _SIGNS)


def hidden_fields(text: str) -> dict[str, Any]:
    """What the database must not hold in clear, as it may be shown; by the field's name."""
    if not may_hide(text):
        return {}
    config = msgspec.json.decode(text)
    hidden = request_masking.credentials(config)
    if (given := config.get("script_arguments")) and argument_masking.shown(given) != given:
        hidden["script_arguments"] = argument_masking.shown(given)
    return hidden


def shown_config(config: dict[str, Any]) -> dict[str, Any]:
    """Of a monitor, or of its definition, which may hold a configuration inside."""
    found = request_masking.shown(config) if "url" in config or "headers" in config else config
    if isinstance(given := found.get("script_arguments"), list):
        found = {**found, "script_arguments": argument_masking.shown(given)}
    inner = found.get("config")
    return {**found, "config": shown_config(inner)} if isinstance(inner, dict) else found


def unmasked(config: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
    """Put hidden values back where a record was sent as it had been shown."""
    inner, before = config.get("config"), old.get("config")
    known = {**before, **old} if isinstance(before, dict) else old
    found = request_masking.restored(config, known)
    given, stored = found.get("script_arguments"), known.get("script_arguments")
    if isinstance(given, list) and isinstance(stored, list):
        found["script_arguments"] = argument_masking.restored(given, stored)
    return {**found, "config": unmasked(inner, known)} if isinstance(inner, dict) else found


def refuse_masks(config: dict[str, Any]) -> None:
    """A mask that hides no stored value."""
    request_masking.refuse_masks(config)
    if argument_masking.has_mask(config.get("script_arguments") or ()):
        raise request_masking.left_mask("script_arguments")


def script_for_agent(
    config: dict[str, Any], values: Callable[[], dict[str, str]]
) -> dict[str, Any]:
    """The same as `for_agent` for the arguments of a script."""
    given = config["script_arguments"]
    masks = argument_masking.literals(given)
    changed: dict[str, Any] = {}
    if names := references.names_among(given):
        known = values()
        masks += [known[name] for name in sorted(names) if name in known]
        try:
            changed["script_arguments"] = references.in_arguments(given, known)
        except references.Missing as missing:
            changed["problem"] = str(missing)
    return {**config, **changed, "masks": masks} if masks or changed else config


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
