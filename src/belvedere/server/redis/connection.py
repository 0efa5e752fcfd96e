"""A connection to a Redis server that only publishes.

The protocol (RESP) is small: a command is an array of texts, and each reply to AUTH and PUBLISH is
one line. So no library is needed, and a reply that is neither cannot make this server do anything.
"""

import asyncio
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from belvedere.base.errors import Invalid

SCHEMES = ("redis", "rediss")
PORT = 6379
# For a connection with its sign-in, and for the replies to one batch.
TIMEOUT_S = 5.0
# Bytes of one reply; those that we expect have less than a hundred.
MAX_REPLY = 4_096


class RedisError(Exception):
    """The server refused a command, or does not speak the protocol."""


@dataclass(frozen=True, slots=True)
class RedisAddress:
    host: str
    port: int
    is_encrypted: bool
    username: str
    password: str

    def __str__(self) -> str:
        """As logs show it: without user name and password."""
        return f"{SCHEMES[self.is_encrypted]}://{self.host}:{self.port}"

    def __repr__(self) -> str:
        return f"RedisAddress({self})"


def parse(url: str) -> RedisAddress:
    """Raises Invalid with a message that does not repeat the URL, which may have a password."""
    try:
        parts = urlsplit(url)
        port = parts.port or PORT
    except ValueError:
        raise _invalid() from None
    has_rest = parts.path.strip("/").strip("0123456789") or parts.query or parts.fragment
    if parts.scheme not in SCHEMES or not parts.hostname or has_rest:
        raise _invalid()
    username, password = unquote(parts.username or ""), unquote(parts.password or "")
    return RedisAddress(parts.hostname, port, parts.scheme == "rediss", username, password)


def _invalid() -> Invalid:
    return Invalid(
        "BELVEDERE_REDIS must be an address such as rediss://user:password@redis.example.com:6379."
    )


class RedisConnection:
    """Open and signed in; every failure leaves it unusable."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, address: RedisAddress) -> "RedisConnection":
        context = ssl.create_default_context() if address.is_encrypted else None
        async with asyncio.timeout(TIMEOUT_S):
            reader, writer = await asyncio.open_connection(
                address.host, address.port, ssl=context, limit=MAX_REPLY
            )
            connection = cls(reader, writer)
            try:
                await connection._sign_in(address)
            except BaseException:
                connection.close()
                raise
        return connection

    async def _sign_in(self, address: RedisAddress) -> None:
        if address.password:
            names = [address.username] if address.username else []
            await self._send([("AUTH", *names, address.password)])

    async def publish(self, messages: Sequence[tuple[str, str]]) -> None:
        """(channel, text) of each, in one round trip."""
        async with asyncio.timeout(TIMEOUT_S):
            await self._send([("PUBLISH", channel, text) for channel, text in messages])

    def close(self) -> None:
        # Not awaited: a server that no longer responds must not delay anything.
        self._writer.transport.abort()

    async def _send(self, commands: Sequence[tuple[str, ...]]) -> None:
        self._writer.write(b"".join(map(encode, commands)))
        await self._writer.drain()
        for _ in commands:
            await self._read_reply()

    async def _read_reply(self) -> None:
        """One line, which must report success."""
        try:
            line = await self._reader.readuntil(b"\r\n")
        except asyncio.LimitOverrunError:
            raise RedisError("The reply is too long.") from None
        except asyncio.IncompleteReadError:
            raise ConnectionResetError("The server closed the connection.") from None
        if line[:1] not in (b"+", b":"):
            raise RedisError(ascii(line[1:200].strip().decode("utf-8", "replace")))


def encode(command: Sequence[str]) -> bytes:
    """Every text with its length, so that no content can become a command."""
    texts = [text.encode("utf-8", "replace") for text in command]
    return b"*%d\r\n" % len(texts) + b"".join(b"$%d\r\n%b\r\n" % (len(t), t) for t in texts)
