"""What is specific to a sender besides its signature: ids of deliveries, challenges. Pure."""

import hashlib
from collections.abc import Mapping
from typing import Any

from belvedere.base.text.json_text import Number
from belvedere.webhooks.deliveries import signatures
from belvedere.webhooks.model import Signature

MAX_ID, MAX_CHALLENGE = 255, 1_024
# The field of the signed body with the sender's id of the event, and the header of the signature.
_ID_FIELDS = {Signature.STRIPE: "id", Signature.SLACK: "event_id"}
_SIGNED = {Signature.STRIPE: signatures.STRIPE, Signature.SLACK: signatures.SLACK}


def delivery_id(kind: str, headers: Mapping[str, str], payload: list[Any]) -> str | None:
    """The signed id of a delivery; None where the sender signs none.

    Headers that are not signed are ignored: somebody who intercepted a call could change them. A
    body without an id is identified by its signature, which includes the time.
    """
    if kind not in _ID_FIELDS:
        return None
    event_id = _member(payload, _ID_FIELDS[Signature(kind)])
    if event_id is not None and 1 <= len(event_id) <= MAX_ID:
        return event_id
    signature = headers.get(_SIGNED[Signature(kind)], "")
    return hashlib.sha256(signature.encode("utf-8", "replace")).hexdigest()


def challenge(kind: str, payload: list[Any]) -> str | None:
    """The text that Slack expects in the response when it verifies an address."""
    if kind != Signature.SLACK or _member(payload, "type") != "url_verification":
        return None
    text = _member(payload, "challenge")
    return text if text is not None and 1 <= len(text) <= MAX_CHALLENGE else None


def _member(payload: list[Any], name: str) -> str | None:
    """A text field of the body, if the body is one object."""
    if len(payload) != 1 or not isinstance(payload[0], dict):
        return None
    value = payload[0].get(name)
    return value if isinstance(value, str) and not isinstance(value, Number) else None
