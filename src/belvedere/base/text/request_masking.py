"""Web requests (`url`, `headers`, `body`) without their credentials, and the way back.

Records show `shown(request)`. A form that sends such a record back is merged by `restored`, so that
a mask never replaces the value that it hides.
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
    in_parameters,
    in_text,
    is_credential,
    is_reference,
    masked,
)

FIELDS = ("url", "headers", "body")
_FORM = re.compile(r"[^=&\s]+=[^&\s]*(?:&[^=&\s]+=[^&\s]*)*")
# A text of another kind (XML, for example) is hidden whole if it names a credential.
_NAMED = re.compile("auth|cookie|token|secret|passw|passphrase|pwd|credential|api.?key", re.I)
_AUTHORIZATION = re.compile(r"[A-Za-z][A-Za-z0-9-]*\s+(\S.*)")


def shown(request: Mapping[str, Any]) -> dict[str, Any]:
    """The request as anybody may see it."""
    return {**request, **_replaced(request, masked)}


def credentials(request: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that hold any, as they may be shown."""
    found = _replaced(request, masked)
    return {name: value for name, value in found.items() if value != request[name]}


def restored(given: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    """The request that was sent, with the stored values where it carries masks."""
    found = dict(given)
    for name, restore in (("url", _text_again), ("headers", _headers_again), ("body", _body_again)):
        if given.get(name) and old.get(name):
            found[name] = restore(given[name], old[name])
    return found


def refuse_masks(request: Mapping[str, Any]) -> None:
    """A mask that is left after `restored` hides nothing: somebody copied a record."""
    for field in FIELDS:
        if _has_mask({field: request.get(field)}):
            raise left_mask(field)


def left_mask(field: str) -> Invalid:
    message = (
        f"{MASK} stands for a hidden value, and there is no stored value for it here. Send the"
        " value itself, or refer to a secret as {{secret:NAME}}."
    )
    return Invalid(f"{field}: {message}", code="masked_value", faults=(Fault(field, message),))


def check_address(
    request: Mapping[str, Any], old: Mapping[str, Any], *entered: Mapping[str, Any]
) -> None:
    """Refuse stored credentials at another scheme, host or port than they were entered for: who
    may change the address could read them there. `entered` is what the caller sent; a credential
    among it was entered again."""
    before, after = _origin(old.get("url")), _origin(request.get("url"))
    if before == after:
        return
    stored = _values(old) & _values(request)
    if stored.difference(*map(_values, entered)):
        raise _other_address(before, after)


def _other_address(before: str, after: str) -> Invalid:
    message = (
        f"The hidden values were entered for {before or 'no address'} and are not sent to"
        f" {after or 'another one'}. Enter them again (headers, body and credentials of the"
        " address), or remove them."
    )
    return Invalid(f"url: {message}", code="masked_value", faults=(Fault("url", message),))


def _origin(url: object) -> str:
    """Scheme, host and port, the usual ports left out."""
    text = url if isinstance(url, str) else ""
    try:
        parts = urlsplit(text)
        scheme, port = parts.scheme.lower(), parts.port
    except ValueError:
        # A port that is no number, such as a reference to a secret.
        return text
    is_usual = port in (None, {"http": 80, "https": 443}.get(scheme))
    return f"{scheme}://{parts.hostname or ''}{'' if is_usual else f':{port}'}" if text else ""


def _values(request: Mapping[str, Any]) -> set[str]:
    """The credentials that are written out."""
    values: set[str] = set()

    def collect(_: str, value: str) -> str:
        if value and value != MASK and not is_reference(value):
            values.add(value)
        return value

    _replaced(request, collect)
    return values


def _has_mask(request: Mapping[str, Any]) -> bool:
    masks: list[str] = [MASK] if request.get("body") == MASK else []

    def collect(_: str, value: str) -> str:
        masks.extend([value] if value == MASK else [])
        return value

    _replaced(request, collect)
    return bool(masks)


def literals(request: Mapping[str, Any]) -> list[str]:
    """Every credential that is written out, in the forms in which an answer may repeat it."""
    found: list[str] = []

    def collect(_: str, value: str) -> str:
        if value and not is_reference(value):
            found.extend(spellings(value))
        return value

    _replaced(request, collect)
    return list(dict.fromkeys(found))


def spellings(value: str) -> Iterator[str]:
    """A credential in the forms in which an answer may repeat it."""
    for one in (value, unquote_plus(value)):
        yield one
        if (scheme := _AUTHORIZATION.fullmatch(one)) is not None:
            yield scheme[1]
            yield from _basic(scheme[1])
        elif ":" in one:
            yield one.partition(":")[2]


def _basic(written: str) -> Iterator[str]:
    """The password inside `Basic dXNlcjpwYXNz`."""
    try:
        pair = b64decode(written, validate=True).decode()
    except ValueError:
        return
    yield pair
    if ":" in pair:
        yield pair.partition(":")[2]


def _replaced(request: Mapping[str, Any], hide: Hide) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if isinstance(url := request.get("url"), str):
        found["url"] = in_text(url, hide)
    if isinstance(headers := request.get("headers"), Mapping):
        found["headers"] = {name: _header(name, one, hide) for name, one in headers.items()}
    if isinstance(body := request.get("body"), str):
        found["body"] = _body(body, hide)
    return found


def _header(name: str, value: Any, hide: Hide) -> Any:
    if not isinstance(value, str):
        return value
    return hide(name, value) if is_credential(name) else in_text(value, hide)


def _body(body: str, hide: Hide) -> str:
    if not body or is_reference(body):
        return body
    content = _json(body)
    if content is not None:
        hidden = _inside(content, hide)
        return body if hidden == content else json_text.compact(hidden)
    if _FORM.fullmatch(body):
        return in_parameters(f"&{body}", hide)[1:]
    return hide("", body) if _NAMED.search(body) else in_text(body, hide)


def _json(body: str) -> Any:
    """The object or list that a body is; None for any other text."""
    if not body.lstrip().startswith(("{", "[")):
        return None
    try:
        return json_text.parse(body)
    except Invalid:
        return None


def _inside(value: Any, hide: Hide, *, is_hidden: bool = False) -> Any:
    if isinstance(value, dict):
        return {
            key: _inside(one, hide, is_hidden=is_hidden or is_credential(key))
            for key, one in value.items()
        }
    if isinstance(value, list):
        return [_inside(one, hide, is_hidden=is_hidden) for one in value]
    if not isinstance(value, str):
        return value
    return hide("", value) if is_hidden else in_text(value, hide)


def _text_again(given: str, old: str) -> str:
    if given == in_text(old, masked):
        return old
    return _again(lambda hide: in_text(given, hide), lambda hide: in_text(old, hide))


def _again(given: Callable[[Hide], str], old: Callable[[Hide], str]) -> str:
    """Masks get the old values of the same name, several of one name in their order."""
    known: dict[str, list[str]] = {}

    def collect(name: str, value: str) -> str:
        known.setdefault(name, []).append(value)
        return value

    def fill(name: str, value: str) -> str:
        was = known.get(name)
        before = was.pop(0) if was else value
        return before if value == MASK else value

    old(collect)
    return given(fill)


def _headers_again(given: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    known = {name.lower(): value for name, value in old.items()}
    return {
        name: _header_again(name, value, known[name.lower()]) if name.lower() in known else value
        for name, value in given.items()
    }


def _header_again(name: str, given: Any, old: Any) -> Any:
    if not isinstance(given, str) or not isinstance(old, str):
        return given
    if is_credential(name):
        return old if given == MASK else given
    return _text_again(given, old)


def _body_again(given: str, old: str) -> str:
    if given in (MASK, _body(old, masked)):
        return old
    content, before = _json(given), _json(old)
    if content is not None and before is not None:
        filled = _filled(content, before)
        return given if filled == content else json_text.compact(filled)
    if _FORM.fullmatch(given) and _FORM.fullmatch(old):
        filled = _again(
            lambda hide: in_parameters(f"&{given}", hide),
            lambda hide: in_parameters(f"&{old}", hide),
        )
        return filled[1:]
    return given


def _filled(given: Any, old: Any) -> Any:
    """JSON with the old values in the same places."""
    if isinstance(given, dict) and isinstance(old, dict):
        return {key: _filled(one, old.get(key)) for key, one in given.items()}
    if isinstance(given, list) and isinstance(old, list):
        behind = [None] * len(given)
        return [_filled(one, was) for one, was in zip(given, [*old, *behind], strict=False)]
    return old if given == MASK and isinstance(old, str) else given
