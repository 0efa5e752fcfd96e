"""Hiding credentials in configurations, and resolving secrets for the agent."""

from collections.abc import Callable
from typing import Any

import msgspec

from belvedere.base.text import argument_masking, request_masking
from belvedere.secrets import references

# A URL without these characters has no credentials, so long lists need not parse the JSON.
_CREDENTIAL_SIGNS = ("@", "?", "#")


def may_hold_credentials(text: str) -> bool:
    """Whether the JSON of a configuration may contain credentials."""
    if '"url":' not in text:
        return '"script_arguments":[' in text and '"script_arguments":[]' not in text
    is_bare = '"headers":{}' in text and '"body":""' in text
    return not is_bare or any(sign in text for sign in _CREDENTIAL_SIGNS)


def redacted_fields(text: str) -> dict[str, Any]:
    """Fields that must be sealed in the database, with their redacted values."""
    if not may_hold_credentials(text):
        return {}
    config = msgspec.json.decode(text)
    hidden = request_masking.credentials(config)
    arguments = config.get("script_arguments") or []
    if (masked := argument_masking.mask(arguments)) != arguments:
        hidden["script_arguments"] = masked
    return hidden


def redact(config: dict[str, Any]) -> dict[str, Any]:
    """The configuration of a monitor, or a definition that contains one, without credentials."""
    redacted = request_masking.mask(config) if "url" in config or "headers" in config else config
    if isinstance(arguments := redacted.get("script_arguments"), list):
        redacted = {**redacted, "script_arguments": argument_masking.mask(arguments)}
    inner = redacted.get("config")
    return {**redacted, "config": redact(inner)} if isinstance(inner, dict) else redacted


def restore_redacted(config: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
    """Put stored values back in place of masks: clients send records back as they got them."""
    inner, before = config.get("config"), old.get("config")
    stored = {**before, **old} if isinstance(before, dict) else old
    result = request_masking.restore(config, stored)
    arguments, stored_arguments = (c.get("script_arguments") for c in (result, stored))
    if isinstance(arguments, list) and isinstance(stored_arguments, list):
        result["script_arguments"] = argument_masking.restore(arguments, stored_arguments)
    return (
        {**result, "config": restore_redacted(inner, stored)} if isinstance(inner, dict) else result
    )


def reject_masks(config: dict[str, Any]) -> None:
    """Reject a mask that stands for no stored value."""
    request_masking.refuse_masks(config)
    if argument_masking.has_mask(config.get("script_arguments") or ()):
        raise request_masking.unresolved_mask("script_arguments")


def resolve_script(config: dict[str, Any], values: Callable[[], dict[str, str]]) -> dict[str, Any]:
    """The same as `resolve_scraper` for the arguments of a script."""
    arguments = config["script_arguments"]
    masks = argument_masking.literals(arguments)
    changed: dict[str, Any] = {}
    if names := references.names_among(arguments):
        secrets = values()
        masks += [secrets[name] for name in sorted(names) if name in secrets]
        try:
            changed["script_arguments"] = references.in_arguments(arguments, secrets)
        except references.MissingSecret as missing:
            changed["problem"] = str(missing)
    return {**config, **changed, "masks": masks} if masks or changed else config


def resolve_scraper(config: dict[str, Any], values: Callable[[], dict[str, str]]) -> dict[str, Any]:
    """A web check with the secrets that it refers to, and `masks`: values that the agent must not
    report. `problem`: why the check cannot run. `values` is called only if there is a reference."""
    resolved = dict(config)
    masks = request_masking.literals(config)
    if names := references.names_in(config):
        secrets = values()
        masks += [secrets[name] for name in sorted(names) if name in secrets]
        try:
            resolved = references.resolve(config, secrets)
        except references.MissingSecret as missing:
            resolved["problem"] = str(missing)
    return {**resolved, "masks": masks} if masks else resolved
