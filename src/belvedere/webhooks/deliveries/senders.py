"""What is peculiar to a sender beside its signature: its ids of deliveries, its questions. Pure."""

import hashlib
from collections.abc import Mapping
from typing import Any

from belvedere.base.text.json_text import Number
from belvedere.webhooks.deliveries import signatures
from belvedere.webhooks.model import Signature

MAX_ID, MAX_CHALLENGE = 255, 1_024
# Where the signed body holds the sender's own id of the event, and what is signed anew each time.
_ID_FIELDS = {Signature.STRIPE: "id", Signature.SLACK: "event_id"}
_SIGNED = {Signature.STRIPE: signatures.STRIPE, Signature.SLACK: signatures.SLACK}


def delivery_id(kind: str, headers: Mapping[str, str], payload: list[Any]) -> str | None:
    """The id of a delivery that was signed with it; None where the sender signs none.

    Headers that are not signed do not count: who overheard a call could change them. A body
    without an id is told from others by its signature, which holds the moment too.
    """
    if kind not in _ID_FIELDS:
        return None
    event_id = _member(payload, _ID_FIELDS[Signature(kind)])
    if event_id is not None and 1 <= len(event_id) <= MAX_ID:
        return event_id
    signature = headers.get(_SIGNED[Signature(kind)], "")
    return hashlib.sha256(signature.encode("utf-8", "replace")).hexdigest()


def challenge(kind: str, payload: list[Any]) -> str | None:
    """What Slack wants to hear back before it believes that an address is its owner's."""
    if kind != Signature.SLACK or _member(payload, "type") != "url_verification":
        return None
    text = _member(payload, "challenge")
    return text if text is not None and 1 <= len(text) <= MAX_CHALLENGE else None


def _member(payload: list[Any], name: str) -> str | None:
    """A text of the one object that the body is."""
    if len(payload) != 1 or not isinstance(payload[0], dict):
        return None
    value = payload[0].get(name)
    return value if isinstance(value, str) and not isinstance(value, Number) else None
