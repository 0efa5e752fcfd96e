"""The server's messages into the protocol's shapes, and ours into its frames."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, TypeVar, get_args

from belvedere import protocol
from belvedere.agent.json_lines import writer
from belvedere.protocol import FromAgent, FromServer

Shape = TypeVar("Shape")

SHAPES: dict[str, type[FromServer]] = {
    "welcome": protocol.Welcome,
    "order": protocol.Order,
    "cancel": protocol.Cancel,
    "stop": protocol.Stop,
    "ack": protocol.Ack,
    "kept": protocol.Kept,
    "credit": protocol.Credit,
    "missing": protocol.Missing,
    "refusal": protocol.Refusal,
    "watch": protocol.Watch,
    "noted": protocol.Noted,
}


def decode(raw: dict[str, Any]) -> FromServer | None:
    """The message, without fields that a later server may have added; None for a later kind."""
    shape = SHAPES.get(raw.get("kind", ""))
    if shape is None:
        return None
    message = _shape(shape, raw)
    match message:
        case protocol.Order() if message.blobs:
            message.blobs = [_blob(blob) for blob in raw["blobs"]]
        case protocol.Watch():
            message.monitors = [_shape(protocol.Watched, one) for one in raw["monitors"]]
    return message


def watch(raw: dict[str, Any]) -> protocol.Watch:
    """As one process of this agent says it to another."""
    monitors = [_shape(protocol.Watched, one) for one in raw["monitors"]]
    return protocol.Watch(raw["number"], monitors, raw["since"], raw["removed"])


def report(raw: dict[str, Any]) -> protocol.Report:
    """As the keeper wrote it, which may be older or newer than this agent."""
    return _shape(protocol.Report, raw)


def _shape(shape: type[Shape], raw: dict[str, Any]) -> Shape:
    try:
        return shape(**raw)
    except TypeError:
        names = shape.__dataclass_fields__  # type: ignore[attr-defined]
        return shape(**{name: value for name, value in raw.items() if name in names})


def _blob(raw: dict[str, Any]) -> protocol.BlobArgument:
    return protocol.BlobArgument(raw["index"], raw["sha256"], raw["filename"])


# How to read all fields of a shape at once, by the shape: a report has fourteen.
_READ = {
    shape: attrgetter(*shape.__slots__)
    for shape in (protocol.Entry, protocol.Report, protocol.Sample, *get_args(FromAgent))
}


def _fields(value: Any) -> dict[str, Any]:
    shape = type(value)
    return dict(zip(shape.__slots__, _READ[shape](value), strict=True))


_to_json = writer(_fields)


def frame(messages: Sequence[FromAgent]) -> str:
    return _to_json(messages)
