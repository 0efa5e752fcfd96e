"""WebSocket frames compared with the library `websockets`: each reads what the other packs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.uri import parse_uri

from belvedere.base import websocket_frames
from belvedere.base.websocket_frames import (
    BINARY,
    CLOSE,
    CONTINUATION,
    PING,
    PONG,
    TEXT,
    FrameError,
    Reader,
)

LONGEST = 1 << 20
BORDERS = (0, 1, 125, 126, 127, 65_535, 65_536, 70_000)


def server() -> ServerProtocol:
    return ServerProtocol(state=State.OPEN, max_size=None)


def client() -> ClientProtocol:
    return ClientProtocol(parse_uri("ws://x/"), state=State.OPEN, max_size=None)


def decode(protocol: ServerProtocol | ClientProtocol, data: bytes) -> list[tuple[int, bytes]]:
    protocol.receive_data(data)
    assert protocol.parser_exc is None
    frames = [event for event in protocol.events_received() if isinstance(event, Frame)]
    return [(int(frame.opcode), bytes(frame.data)) for frame in frames]


def read(data: bytes, *, masked: bool, pieces: int = 0) -> list[tuple[int, bytes]]:
    reader = Reader(masked=masked, max_size=LONGEST)
    step = pieces or len(data) or 1
    items: list[tuple[int, bytes]] = []
    for at in range(0, len(data), step):
        items += reader.feed(data[at : at + step])
    return items


@pytest.mark.parametrize("size", BORDERS)
@pytest.mark.parametrize("opcode", [TEXT, BINARY])
def test_the_library_reads_our_frames(size: int, opcode: int) -> None:
    data = b"x" * size
    assert decode(server(), websocket_frames.pack(opcode, data, masked=True)) == [(opcode, data)]
    assert decode(client(), websocket_frames.pack(opcode, data, masked=False)) == [(opcode, data)]


@given(
    st.lists(st.tuples(st.sampled_from([TEXT, BINARY, PING, PONG]), st.binary(max_size=120))),
    st.booleans(),
    st.integers(1, 40),
)
def test_we_read_the_frames_of_the_library(
    said: list[tuple[int, bytes]], masked: bool, pieces: int
) -> None:
    data = b"".join(Frame(Opcode(op), body).serialize(mask=masked) for op, body in said)
    assert read(data, masked=masked, pieces=pieces) == said


@pytest.mark.parametrize("size", BORDERS)
def test_however_it_is_cut(size: int) -> None:
    data = Frame(Opcode.BINARY, bytes(range(256)) * (size // 256 + 1)).serialize(mask=True)
    text = read(data, masked=True)
    assert text == read(data, masked=True, pieces=1_000) == read(data, masked=True, pieces=7)
    assert len(text) == 1


def parts(*pairs: tuple[int, bytes, bool]) -> bytes:
    return b"".join(Frame(Opcode(op), body, fin).serialize(mask=True) for op, body, fin in pairs)


def test_a_message_in_several_frames_with_a_ping_between() -> None:
    data = parts(
        (TEXT, b"one ", False),
        (PING, b"?", True),
        (CONTINUATION, b"", False),
        (CONTINUATION, b"two", True),
    )
    assert read(data, masked=True) == [(PING, b"?"), (TEXT, b"one two")]
    assert read(data * 2, masked=True, pieces=3) == [(PING, b"?"), (TEXT, b"one two")] * 2


BAD = {
    "not masked": (Frame(Opcode.TEXT, b"x").serialize(mask=False), 1002),
    "an extension": (b"\xc1\x80\0\0\0\0", 1002),
    "an unknown kind": (b"\x83\x80\0\0\0\0", 1002),
    "an unknown control": (b"\x8b\x80\0\0\0\0", 1002),
    "a ping in parts": (b"\x09\x80\0\0\0\0", 1002),
    "a long ping": (websocket_frames.pack(PING, b"x" * 126, masked=True), 1002),
    "a continuation of nothing": (parts((CONTINUATION, b"x", True)), 1002),
    "a message within a message": (parts((TEXT, b"x", False), (TEXT, b"y", True)), 1002),
    "too long": (websocket_frames.pack(BINARY, b"x" * (LONGEST + 1), masked=True), 1009),
    "longer than can be": (b"\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff", 1009),
    "too long in parts": (
        parts((BINARY, b"x" * LONGEST, False), (CONTINUATION, b"y", True)),
        1009,
    ),
}


@pytest.mark.parametrize("text", BAD)
def test_invalid_frames_are_refused(text: str) -> None:
    data, code = BAD[text]
    for pieces in (0, 50_000):
        with pytest.raises(FrameError) as refusal:
            read(data, masked=True, pieces=pieces)
        assert refusal.value.code == code


def test_too_long_is_known_before_it_has_arrived() -> None:
    with pytest.raises(FrameError):
        Reader(masked=True, max_size=100).feed(b"\x82\xfe\x01\x00")


@given(st.binary(max_size=60))
def test_garbage_is_refused_or_waited_for(data: bytes) -> None:
    try:
        read(data, masked=True)
    except FrameError as refusal:
        assert refusal.code in (1002, 1009)


def test_close_frames_are_packed_and_read() -> None:
    [(opcode, data)] = read(
        websocket_frames.pack_close(4409, "ünd " * 60, masked=True), masked=True
    )
    assert opcode == CLOSE and len(data) <= 125
    code, reason = websocket_frames.unpack_close(data)
    assert code == 4409 and reason.startswith("ünd ünd")
    assert (
        websocket_frames.unpack_close(b"") == websocket_frames.unpack_close(b"\x03") == (None, "")
    )


def test_text_is_utf_8() -> None:
    assert websocket_frames.decode("ü".encode()) == "ü"
    with pytest.raises(FrameError) as refusal:
        websocket_frames.decode(b"\xff")
    assert refusal.value.code == 1007


SHORT = st.binary(max_size=130)


@given(SHORT, st.sampled_from((b"", websocket_frames.pack(PING, b"", masked=True))))
def test_a_short_text_is_what_the_reader_reads(payload: bytes, ping: bytes) -> None:
    frame = websocket_frames.pack(TEXT, payload, masked=True)
    text, has_ping = websocket_frames.short_text(frame + ping)
    frames = Reader(masked=True, max_size=LONGEST).feed(frame + ping)
    assert (text is None) == (len(payload) > 125)
    if text is not None:
        assert frames == [(TEXT, text), *([(PING, b"")] if has_ping else [])]


@given(
    st.lists(
        st.tuples(st.sampled_from((TEXT, BINARY, PING, PONG, CLOSE)), SHORT, st.booleans()),
        max_size=3,
    ),
    st.integers(0, 300),
)
def test_other_bytes_are_no_short_text(frames: list[tuple[int, bytes, bool]], size: int) -> None:
    data = b"".join(
        websocket_frames.pack(opcode, data, masked=masked) for opcode, data, masked in frames
    )[:size]
    text, has_ping = websocket_frames.short_text(data)
    if text is not None:
        read = Reader(masked=True, max_size=LONGEST).feed(data)
        assert read == [(TEXT, text), *([(PING, b"")] if has_ping else [])]
