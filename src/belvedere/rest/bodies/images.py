"""Checks that bytes are a complete PNG, JPEG or WebP image of a sensible size.

Nothing is decoded: only the structure is read. A file with anything after the end of the image is
refused, and so is everything that is not one of the three formats, such as SVG, which can contain
scripts.
"""

import struct
import zlib

PNG, JPEG, WEBP = "image/png", "image/jpeg", "image/webp"
# Browsers need memory for every pixel.
MAX_PIXELS_A_SIDE = 2_000
_PNG_START = b"\x89PNG\r\n\x1a\n"
# JPEG: markers without a length, and frames that have width and height.
_JPEG_ALONE = frozenset({0x01, *range(0xD0, 0xD8)})
_JPEG_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})


class NotAnImage(ValueError):
    """The bytes are not an image that can be used."""


def media_type(content: bytes) -> str:
    """The type of the image; raises NotAnImage."""
    try:
        kind, (width, height) = _measure(content)
    except (struct.error, IndexError):
        raise NotAnImage("The image is damaged or incomplete.") from None
    if not (0 < width <= MAX_PIXELS_A_SIDE and 0 < height <= MAX_PIXELS_A_SIDE):
        raise NotAnImage(
            f"The image has {width} x {height} pixels; use at most {MAX_PIXELS_A_SIDE} a side."
        )
    return kind


def _measure(content: bytes) -> tuple[str, tuple[int, int]]:
    if content.startswith(_PNG_START):
        return PNG, _png(content)
    if content.startswith(b"\xff\xd8\xff"):
        return JPEG, _jpeg(content)
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return WEBP, _webp(content)
    raise NotAnImage("Use a PNG, JPEG or WebP image.")


def _png(content: bytes) -> tuple[int, int]:
    at, size, has_data = len(_PNG_START), (0, 0), False
    while True:
        length, kind = struct.unpack_from(">I4s", content, at)
        (checksum,) = struct.unpack_from(">I", content, at + 8 + length)
        if zlib.crc32(content[at + 4 : at + 8 + length]) != checksum:
            raise NotAnImage("The image is damaged: a checksum is wrong.")
        if kind == b"IHDR":
            size = struct.unpack_from(">II", content, at + 8)
        has_data = has_data or kind == b"IDAT"
        at += 12 + length
        if kind == b"IEND":
            break
    if at != len(content) or not has_data:
        raise NotAnImage("The image is damaged, or something follows it.")
    return size


def _jpeg(content: bytes) -> tuple[int, int]:
    if not content.endswith(b"\xff\xd9"):
        raise NotAnImage("The image is incomplete, or something follows it.")
    at = 2
    while True:
        start, marker = content[at], content[at + 1]
        if start != 0xFF:
            raise NotAnImage("The image is damaged.")
        if marker == 0xFF or marker in _JPEG_ALONE:
            at += 1 if marker == 0xFF else 2
            continue
        (length,) = struct.unpack_from(">H", content, at + 2)
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", content, at + 5)
            return width, height
        if marker in (0xD9, 0xDA) or length < 2:
            raise NotAnImage("The image has no size.")
        at += 2 + length


def _webp(content: bytes) -> tuple[int, int]:
    (size,) = struct.unpack_from("<I", content, 4)
    if size + 8 != len(content):
        raise NotAnImage("The image is incomplete, or something follows it.")
    kind = content[12:16]
    if kind == b"VP8X":
        return _uint24(content, 24) + 1, _uint24(content, 27) + 1
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", content, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and content[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", content, 26)
        return width & 0x3FFF, height & 0x3FFF
    raise NotAnImage("The image has no size.")


def _uint24(content: bytes, at: int) -> int:
    low, middle, high = content[at], content[at + 1], content[at + 2]
    return low | middle << 8 | high << 16
