"""Opening connections to what is checked: anywhere, or only at public addresses if the
organization forbids internal ones."""

import asyncio
import socket
import ssl
from functools import lru_cache
from typing import Any

from belvedere.base.networks import is_internal, parse_address

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
# The family of an address, and the address as sockets take it.
Endpoint = tuple[int, tuple[Any, ...]]


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
    entries = await _resolve_any(config, host, None)
    return [(family, str(endpoint[0])) for family, endpoint in entries]


async def resolve_endpoints(config: dict[str, Any], host: str, port: int) -> list[Endpoint]:
    """Families and socket addresses that the organization allows; an address needs no look-up, and
    none of the threads that look-ups use."""
    endpoint = None if config.get("outer_only") else _endpoint(host, port)
    return await _resolve_any(config, host, port) if endpoint is None else [endpoint]


@lru_cache(maxsize=1_024)
def _endpoint(host: str, port: int) -> Endpoint | None:
    """None for a name, and for an address with a zone."""
    address = None if "%" in host else parse_address(host)
    if address is None:
        return None
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    return family.value, (host, port)


async def _resolve_any(config: dict[str, Any], host: str, port: int | None) -> list[Endpoint]:
    loop = asyncio.get_running_loop()
    entries = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    endpoints = [(entry[0].value, entry[4]) for entry in entries]
    if not config.get("outer_only"):
        return endpoints
    outer = [entry for entry in endpoints if not _is_inner(str(entry[1][0]))]
    if not outer:
        address = endpoints[0][1][0]
        raise OSError(f"{address} is an internal address, which this organization forbids")
    return outer


def _is_inner(text: str) -> bool:
    address = parse_address(text)
    return address is None or is_internal(address)
