"""Opening connections to what is checked: anywhere, or only at public addresses if the
organization forbids internal ones."""

import asyncio
import socket
import ssl
from typing import Any

from belvedere.base.networks import is_internal, parse_address

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def connect(
    config: dict[str, Any], host: str, port: int, tls: ssl.SSLContext | None = None
) -> Streams:
    """Open a connection; OSError if that is not possible."""
    name = host if tls is not None else None
    if not config.get("outer_only"):
        return await asyncio.open_connection(host, port, ssl=tls, server_hostname=name)
    fault: OSError | None = None
    for _, address in await resolve(config, host):
        try:
            # To the address that was checked: a second look-up might return another one.
            return await asyncio.open_connection(address, port, ssl=tls, server_hostname=name)
        except ssl.SSLError:
            raise
        except OSError as error:
            fault = error
    assert fault is not None
    raise fault


async def resolve(config: dict[str, Any], host: str) -> list[tuple[int, str]]:
    """Families and addresses of a name that the organization allows."""
    loop = asyncio.get_running_loop()
    entries = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    addresses = [(entry[0].value, str(entry[4][0])) for entry in entries]
    if not config.get("outer_only"):
        return addresses
    outer = [entry for entry in addresses if not _is_inner(entry[1])]
    if not outer:
        raise OSError(f"{addresses[0][1]} is an internal address, which this organization forbids")
    return outer


def _is_inner(text: str) -> bool:
    address = parse_address(text)
    return address is None or is_internal(address)
