"""Decoding messages from the server, and encoding messages to it."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, TypeVar, get_args

from belvedere import protocol
from belvedere.agent.json_lines import writer
from belvedere.protocol import FromAgent, FromServer

MessageT = TypeVar("MessageT")

MESSAGE_TYPES: dict[str, type[FromServer]] = {
    "welcome": protocol.Welcome,
    "order": protocol.Order,
    "cancel": protocol.Cancel,
    "stop": protocol.Stop,
    "ack": protocol.Ack,
    "kept": protocol.OutputAck,
    "credit": protocol.Credit,
    "missing": protocol.BlobMissing,
    "refusal": protocol.Refusal,
    "reconnect": protocol.Reconnect,
    "watch": protocol.MonitorConfig,
    "noted": protocol.SamplesAck,
    "update": protocol.UpdateOffer,
}


def decode(raw: dict[str, Any]) -> FromServer | None:
    """The message without fields that this version does not know; None for an unknown kind."""
    message_type = MESSAGE_TYPES.get(raw.get("kind", ""))
    if message_type is None:
        return None
    message = _build(message_type, raw)
    match message:
        case protocol.Order() if message.blobs:
            message.blobs = [_blob(blob) for blob in raw["blobs"]]
        case protocol.MonitorConfig():
            message.monitors = [_build(protocol.MonitorCheck, item) for item in raw["monitors"]]
    return message


def watch(raw: dict[str, Any]) -> protocol.MonitorConfig:
    """A list of monitors that the agent sends to its checker process."""
    monitors = [_build(protocol.MonitorCheck, item) for item in raw["monitors"]]
    return protocol.MonitorConfig(raw["number"], monitors, raw["since"], raw["removed"])


def report(raw: dict[str, Any]) -> protocol.Report:
    """A report of the keeper, which may be older or newer than this agent."""
    return _build(protocol.Report, raw)


def _build(message_type: type[MessageT], raw: dict[str, Any]) -> MessageT:
    try:
        return message_type(**raw)
    except TypeError:
        names = message_type.__dataclass_fields__  # type: ignore[attr-defined]
        return message_type(**{name: value for name, value in raw.items() if name in names})


def _blob(raw: dict[str, Any]) -> protocol.BlobArgument:
    return protocol.BlobArgument(raw["index"], raw["sha256"], raw["filename"])


# Reads all fields of a message type in one call: a report has fourteen.
_READ = {
    message_type: (message_type.__slots__, attrgetter(*message_type.__slots__))
    for message_type in (
        protocol.JournaledAttempt,
        protocol.Report,
        protocol.Sample,
        *get_args(FromAgent),
    )
}


def _fields(value: object) -> dict[str, Any]:
    names, read = _READ[type(value)]
    return dict(zip(names, read(value), strict=True))


_to_json = writer(_fields)


def frame(messages: Sequence[FromAgent]) -> str:
    return _to_json(messages)
