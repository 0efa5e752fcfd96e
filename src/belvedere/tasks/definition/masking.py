"""Hides masked values and credentials in a definition, and restores them."""

from typing import Any

import msgspec

from belvedere.base.text import request_masking
from belvedere.base.text.credentials import MASK, is_credential
from belvedere.tasks.model import TaskSpec, Type, decode, mask_arguments


def request_of(spec: TaskSpec) -> dict[str, Any]:
    """The request that a scraper sends; empty for other types."""
    if spec.type is not Type.SCRAPER:
        return {}
    return {"url": spec.url, "headers": spec.headers, "body": spec.body}


def shown_spec(spec: TaskSpec) -> TaskSpec:
    hidden = request_masking.mask(request_of(spec))
    return msgspec.structs.replace(
        spec, task_arguments=mask_arguments(spec.task_arguments), **hidden
    )


def hidden_fields(text: str) -> dict[str, Any]:
    """The fields that are sealed in the database, with the values that may be shown."""
    spec = decode(text)
    hidden = {**request_masking.mask(request_of(spec)), "env": dict.fromkeys(spec.env, MASK)}
    if any(argument.masked for argument in spec.task_arguments):
        hidden["task_arguments"] = msgspec.to_builtins(mask_arguments(spec.task_arguments))
    return hidden


def restored(fields: dict[str, Any], old: TaskSpec) -> dict[str, Any]:
    """The fields of a body, with masks replaced by the stored credentials."""
    request = request_of(old)
    filled = {**fields, **request_masking.restore(fields, request)}
    request_masking.check_address({**request, **filled}, request, fields)
    return filled


def refuse_masks(fields: dict[str, Any], type_: Type | None) -> None:
    """Reject masks in a definition that was sent, if no stored value replaces them."""
    if type_ is Type.SCRAPER:
        request_masking.refuse_masks(fields)
    if any(
        argument.masked and argument.value == MASK
        for argument in fields.get("task_arguments") or ()
    ):
        raise request_masking.unresolved_mask("task_arguments")


def without_credentials(values: dict[str, str]) -> dict[str, str]:
    """Environment variables with the values of credentials masked."""
    return {
        name: MASK if value and is_credential(name) else value for name, value in values.items()
    }
