"""Input of anonymous clients: frames, JSON, the arguments of a run."""

import json
from typing import Any
from urllib.parse import urlencode

import hypothesis.strategies as st

from belvedere.base import websocket_frames
from belvedere.base.errors import Invalid, Refused
from belvedere.base.text import json_text
from belvedere.rest import fields, run_arguments
from security.fuzz.target import Target

LONGEST = 70_000


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """The same bytes in pieces."""
    at = sorted({place % (len(data) + 1) for place in places} | {0, len(data)})
    return [data[a:b] for a, b in zip(at, at[1:], strict=False)]


cuts = st.lists(st.integers(0, 200_000), max_size=12)
opcodes = st.sampled_from(
    [websocket_frames.TEXT, websocket_frames.BINARY, websocket_frames.PING, websocket_frames.PONG]
)
payloads = st.one_of(
    st.binary(max_size=130), st.sampled_from([b"", b"a" * 125, b"b" * 126, b"c" * 65_536])
)


def _read(pieces: list[bytes]) -> tuple[list[websocket_frames.FrameMessage], int]:
    """What was read, and the code of the refusal that ended it, or 0."""
    reader = websocket_frames.Reader(masked=True, max_size=LONGEST)
    items: list[websocket_frames.FrameMessage] = []
    for piece in pieces:
        try:
            items += reader.feed(piece)
        except websocket_frames.FrameError as refusal:
            return items, refusal.code
        assert len(reader._buffer) <= LONGEST + 14
    return items, 0


def _check_messages(example: tuple[list[tuple[int, bytes]], list[int]]) -> None:
    """What is packed is read again, however it is split."""
    messages, places = example
    items = [
        (opcode, b"x" * min(len(data), 125) if opcode >= websocket_frames.CLOSE else data)
        for opcode, data in messages
    ]
    items = [
        (o, d if o != websocket_frames.TEXT else d.decode("ascii", "replace").encode())
        for o, d in items
    ]
    data = b"".join(
        websocket_frames.pack(opcode, payload, masked=True) for opcode, payload in items
    )
    assert _read(cut(data, places)) == (items, 0)


def _check_noise(example: tuple[bytes, list[int]]) -> None:
    """Anything is read or refused, and the result is the same however it is split."""
    data, places = example
    pair, cut_up = _read([data]), _read(cut(data, places))
    assert cut_up[1] == pair[1]
    # A refusal in one piece also drops the frames before it in that piece.
    assert cut_up[0][: len(pair[0])] == pair[0]


heads = st.tuples(st.integers(0, 255), st.integers(0, 255)).map(bytes)
noise = st.one_of(
    st.binary(max_size=300),
    st.lists(st.one_of(heads, st.binary(max_size=20)), max_size=12).map(b"".join),
    st.lists(
        st.tuples(st.integers(0, 15), st.binary(max_size=40)).map(
            lambda item: websocket_frames.pack(item[0], item[1], masked=True)
        ),
        max_size=6,
    ).map(b"".join),
)

scalars = st.one_of(st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.text(max_size=8))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)
written = st.one_of(
    values.map(json.dumps),
    values.map(lambda value: json.dumps(value, ensure_ascii=False, indent=1)),
    st.text('[]{},:"\\ue0d8 1-.+eEtrufalsn\n', max_size=40),
    st.text(max_size=20),
    st.integers(90, 120).map(lambda n: "[" * n + "]" * n),
    st.sampled_from(["NaN", "-Infinity", "1e999", '"\\ud800"', '{"a":1,"a":2}', "1" * 70]),
)


def _reference(text: str) -> Any:
    """The standard parser, strict; ValueError for what it refuses."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in items}) != len(items):
            raise ValueError("twice")
        return dict(items)

    def constant(word: str) -> Any:
        raise ValueError(word)

    value = json.loads(text, object_pairs_hook=pairs, parse_constant=constant, parse_float=str)
    json.dumps(value, ensure_ascii=False).encode()
    return value


def _check_json(text: str) -> None:
    """Refused with Invalid or read as the standard parser reads it, and written back the same."""
    try:
        expected: Any = _reference(text)
        is_json = True
    except (ValueError, RecursionError):
        is_json = False
    try:
        exact = json_text.parse(text)
    except Invalid as refusal:
        assert len(refusal.message) < 500
        assert not is_json or "nested" in refusal.message
        return
    assert is_json
    again = json_text.compact(exact)
    assert json_text.parse(again) == exact and json_text.compact(json_text.parse(again)) == again
    assert json.loads(again, parse_float=str) == expected


clear = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=12)


def _check_encodings(given: list[str]) -> None:
    """JSON, form and query give the same arguments."""
    pairs = [("task_arguments", value) for value in given]
    body = json.dumps({"task_arguments": given}).encode()
    form = urlencode(pairs)
    in_json = run_arguments.read("application/json", body, {})
    in_form = run_arguments.read("application/x-www-form-urlencoded", form.encode(), {})
    in_query = run_arguments.read("", b"", fields.read(form))
    assert in_json.arguments == given
    assert in_form.arguments == in_query.arguments == (given or None)
    both = run_arguments.read("application/json", body, fields.read(form))
    assert both.arguments == given


types = st.one_of(
    st.sampled_from(["application/json", "application/x-www-form-urlencoded", "", "a/b+json"]),
    st.text("application/json;=charset \"'utf-8", max_size=40),
)


def _check_bodies(example: tuple[str, bytes, dict[str, list[str]]]) -> None:
    """Any body is refused or read; what is read is a list of arguments or none."""
    kind, raw, query = example
    try:
        text = run_arguments.read(kind, raw, query)
    except Refused as refusal:
        assert refusal.message and len(refusal.message) < 1_000
        return
    assert text.arguments is None or isinstance(text.arguments, list)


queries = st.dictionaries(
    st.sampled_from(
        ["task", "customer", "task_arguments", "task_arguments[]", "task_arguments[0]"]
    ),
    st.lists(st.text(max_size=5), min_size=1, max_size=3),
    max_size=3,
)
TARGETS = [
    Target(
        "frames",
        st.tuples(st.lists(st.tuples(opcodes, payloads), max_size=6), cuts),
        _check_messages,
    ),
    Target("frames: noise", st.tuples(noise, cuts), _check_noise),
    Target("JSON", written, _check_json),
    Target("arguments: encodings", st.lists(clear, max_size=5), _check_encodings),
    Target(
        "arguments: bodies",
        st.tuples(
            types,
            st.one_of(st.binary(max_size=60), written.map(lambda s: s.encode("utf-8", "replace"))),
            queries,
        ),
        _check_bodies,
    ),
]
