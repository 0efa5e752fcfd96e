"""Compresses JSON responses of routes that allow it.

The length of a compressed response depends on how often its parts repeat each other. Somebody who
can put text into a response, and can measure its encrypted length, could guess a secret in the
same response (BREACH). So only routes that are marked `compress` are compressed, they contain no
credentials, a browser must send the request from a page of this server, and each response has
padding of a random length.
"""

import secrets
import zlib

from belvedere.rest.request import off_loop
from belvedere.rest.route import Reply, Route

# A smaller response fits into one packet anyway.
MIN_BYTES = 1_024
# A larger response is sent as it is: compressing it would use the processor for too long.
MAX_BYTES = 8 << 20
# Level 1 takes a third of the time of the default level for a tenth more bytes.
LEVEL = 1
MAX_PADDING = 100
# The header of gzip: deflate, with a file name, no time, unknown system.
_GZIP_HEADER = b"\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\xff"


def may_compress(route: Route | None, reply: Reply, headers: dict[bytes, bytes]) -> bool:
    """Whether the response of this route to these request headers may be compressed."""
    if route is None or not (route.compress and reply.compress):
        return False
    if reply.media_type != "application/json":
        return False
    # Browsers send it; other clients send their credential themselves.
    site = headers.get(b"sec-fetch-site", b"same-origin")
    return site == b"same-origin" and accepts_gzip(headers.get(b"accept-encoding", b""))


def accepts_gzip(accepted: bytes) -> bool:
    for part in accepted.lower().split(b","):
        coding, _, quality = part.partition(b";")
        if coding.strip() in (b"gzip", b"*"):
            return quality.replace(b" ", b"").rstrip(b"0.") != b"q="
    return False


async def compressed(data: bytes) -> bytes | None:
    """None: the data is too small or too large."""
    if not MIN_BYTES <= len(data) <= MAX_BYTES:
        return None
    return await off_loop(len(data), gzip, data)


def gzip(data: bytes) -> bytes:
    """With a random file name as padding, which clients ignore."""
    name = secrets.token_bytes(MAX_PADDING).hex().encode()[: secrets.randbelow(MAX_PADDING + 1)]
    deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = deflate.compress(data) + deflate.flush()
    tail = zlib.crc32(data).to_bytes(4, "little") + (len(data) & 0xFFFFFFFF).to_bytes(4, "little")
    return b"".join((_GZIP_HEADER, name, b"\0", body, tail))
