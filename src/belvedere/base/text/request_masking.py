"""Mask the credentials of web requests (`url`, `headers`, `body`), and restore them.

Records show `mask(request)`. When a form sends such a record back, `restore` puts the stored
values in, so that a mask never replaces the value that it hides.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote_plus, urlsplit

from belvedere.base.errors import Fault, Invalid
from belvedere.base.text import json_text
from belvedere.base.text.credentials import (
    MASK,
    Hide,
    is_credential,
    is_reference,
    mask_value,
    replace_in_parameters,
    replace_in_text,
)

FIELDS = ("url", "headers", "body")
_FORM = re.compile(r"[^=&\s]+=[^&\s]*(?:&[^=&\s]+=[^&\s]*)*")
# Other text (XML, for example) is hidden completely if it names a credential.
_NAMED = re.compile("auth|cookie|token|secret|passw|passphrase|pwd|credential|api.?key", re.I)
_AUTHORIZATION = re.compile(r"[A-Za-z][A-Za-z0-9-]*\s+(\S.*)")


def mask(request: Mapping[str, Any]) -> dict[str, Any]:
    """The request with masks in place of credentials."""
    return {**request, **_replace(request, mask_value)}


def credentials(request: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that contain credentials, masked."""
    hidden = _replace(request, mask_value)
    return {name: value for name, value in hidden.items() if value != request[name]}


def restore(request: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    """The request that was sent, with the stored values in place of masks."""
    result = dict(request)
    for name, restore_field in (
        ("url", _restore_text),
        ("headers", _restore_headers),
        ("body", _restore_body),
    ):
        if request.get(name) and old.get(name):
            result[name] = restore_field(request[name], old[name])
    return result


def refuse_masks(request: Mapping[str, Any]) -> None:
    """Refuse masks that `restore` could not resolve, for example in a copied record."""
    for field in FIELDS:
        if _has_mask({field: request.get(field)}):
            raise unresolved_mask(field)


def unresolved_mask(field: str) -> Invalid:
    message = (
        f"{MASK} is the mask of a hidden value, and no value is stored for it here. Send the"
        " value itself, or refer to a secret as {{secret:NAME}}."
    )
    return Invalid(f"{field}: {message}", code="masked_value", faults=(Fault(field, message),))


def check_address(
    request: Mapping[str, Any], old: Mapping[str, Any], *entered: Mapping[str, Any]
) -> None:
    """Refuse to send stored credentials to another scheme, host or port than they were entered
    for: a user who may change the URL could read them there. `entered` are the values that the
    caller sent; a credential among them was entered again."""
    before, after = _origin(old.get("url")), _origin(request.get("url"))
    if before == after:
        return
    stored = _values(old) & _values(request)
    if stored.difference(*map(_values, entered)):
        raise _moved_credentials(before, after)


def _moved_credentials(before: str, after: str) -> Invalid:
    message = (
        f"The hidden values were entered for {before or 'no URL'} and are not sent to"
        f" {after or 'another one'}. Enter them again (headers, body and credentials of the"
        " URL), or remove them."
    )
    return Invalid(f"url: {message}", code="masked_value", faults=(Fault("url", message),))


def _origin(url: object) -> str:
    """Scheme, host and port, without default ports."""
    text = url if isinstance(url, str) else ""
    try:
        parts = urlsplit(text)
        scheme, port = parts.scheme.lower(), parts.port
    except ValueError:
        # A port that is not a number, such as a reference to a secret.
        return text
    is_usual = port in (None, {"http": 80, "https": 443}.get(scheme))
    return f"{scheme}://{parts.hostname or ''}{'' if is_usual else f':{port}'}" if text else ""


def _values(request: Mapping[str, Any]) -> set[str]:
    """The literal credentials."""
    values: set[str] = set()

    def collect(_: str, value: str) -> str:
        if value and value != MASK and not is_reference(value):
            values.add(value)
        return value

    _replace(request, collect)
    return values


def _has_mask(request: Mapping[str, Any]) -> bool:
    masks: list[str] = [MASK] if request.get("body") == MASK else []

    def collect(_: str, value: str) -> str:
        # Also `user:***` before the host of an address, as other programs mask it.
        masks.extend([value] if value == MASK or value.endswith(f":{MASK}") else [])
        return value

    _replace(request, collect)
    return bool(masks)


def literals(request: Mapping[str, Any]) -> list[str]:
    """Every literal credential, in the forms in which a response may repeat it."""
    values: list[str] = []

    def collect(_: str, value: str) -> str:
        if value and not is_reference(value):
            values.extend(spellings(value))
        return value

    _replace(request, collect)
    return list(dict.fromkeys(values))


def spellings(value: str) -> Iterator[str]:
    """A credential in the forms in which a response may repeat it."""
    for text in (value, unquote_plus(value)):
        yield text
        if (scheme := _AUTHORIZATION.fullmatch(text)) is not None:
            yield scheme[1]
            yield from _basic(scheme[1])
        elif ":" in text:
            yield text.partition(":")[2]


def _basic(written: str) -> Iterator[str]:
    """The password inside `Basic dXNlcjpwYXNz`."""
    try:
        pair = b64decode(written, validate=True).decode()
    except ValueError:
        return
    yield pair
    if ":" in pair:
        yield pair.partition(":")[2]


def _replace(request: Mapping[str, Any], hide: Hide) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if isinstance(url := request.get("url"), str):
        fields["url"] = replace_in_text(url, hide)
    if isinstance(headers := request.get("headers"), Mapping):
        fields["headers"] = {name: _header(name, header, hide) for name, header in headers.items()}
    if isinstance(body := request.get("body"), str):
        fields["body"] = _body(body, hide)
    return fields


def _header(name: str, value: object, hide: Hide) -> object:
    if not isinstance(value, str):
        return value
    return hide(name, value) if is_credential(name) else replace_in_text(value, hide)


def _body(body: str, hide: Hide) -> str:
    if not body or is_reference(body):
        return body
    content = _json(body)
    if content is not None:
        hidden = _replace_in_json(content, hide)
        return body if hidden == content else json_text.compact(hidden)
    if _FORM.fullmatch(body):
        return replace_in_parameters(f"&{body}", hide)[1:]
    return hide("", body) if _NAMED.search(body) else replace_in_text(body, hide)


def _json(body: str) -> object:
    """The object or list of a JSON body; None for any other text."""
    if not body.lstrip().startswith(("{", "[")):
        return None
    try:
        return json_text.parse(body)
    except Invalid:
        return None


def _replace_in_json(value: object, hide: Hide, *, is_hidden: bool = False) -> object:
    if isinstance(value, dict):
        return {
            key: _replace_in_json(item, hide, is_hidden=is_hidden or is_credential(key))
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_replace_in_json(item, hide, is_hidden=is_hidden) for item in value]
    if not isinstance(value, str):
        return value
    return hide("", value) if is_hidden else replace_in_text(value, hide)


def _restore_text(text: str, old: str) -> str:
    if text == replace_in_text(old, mask_value):
        return old
    return _restore_in_order(
        lambda hide: replace_in_text(text, hide), lambda hide: replace_in_text(old, hide)
    )


def _restore_in_order(new: Callable[[Hide], str], old: Callable[[Hide], str]) -> str:
    """Replace masks with the old values of the same name, in their order."""
    stored: dict[str, list[str]] = {}

    def collect(name: str, value: str) -> str:
        stored.setdefault(name, []).append(value)
        return value

    def fill(name: str, value: str) -> str:
        was = stored.get(name)
        before = was.pop(0) if was else value
        return before if value == MASK else value

    old(collect)
    return new(fill)


def _restore_headers(headers: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    stored = {name.lower(): value for name, value in old.items()}
    return {
        name: _restore_header(name, value, stored[name.lower()])
        if name.lower() in stored
        else value
        for name, value in headers.items()
    }


def _restore_header(name: str, value: object, old: object) -> object:
    if not isinstance(value, str) or not isinstance(old, str):
        return value
    if is_credential(name):
        return old if value == MASK else value
    return _restore_text(value, old)


def _restore_body(body: str, old: str) -> str:
    if body in (MASK, _body(old, mask_value)):
        return old
    content, before = _json(body), _json(old)
    if content is not None and before is not None:
        filled = _restore_json(content, before)
        return body if filled == content else json_text.compact(filled)
    if _FORM.fullmatch(body) and _FORM.fullmatch(old):
        filled = _restore_in_order(
            lambda hide: replace_in_parameters(f"&{body}", hide),
            lambda hide: replace_in_parameters(f"&{old}", hide),
        )
        return filled[1:]
    return body


def _restore_json(content: object, old: object) -> object:
    """JSON with the old values in the same positions in place of masks."""
    if isinstance(content, dict) and isinstance(old, dict):
        return {key: _restore_json(item, old.get(key)) for key, item in content.items()}
    if isinstance(content, list) and isinstance(old, list):
        padding = [None] * len(content)
        return [
            _restore_json(item, was) for item, was in zip(content, [*old, *padding], strict=False)
        ]
    return old if content == MASK and isinstance(old, str) else content
