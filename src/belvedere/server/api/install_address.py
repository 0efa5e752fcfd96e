"""`GET /api/enrolment/address`: where new hosts reach this server."""

import contextlib
import socket
import sys
from ipaddress import ip_address

import msgspec

from belvedere.access.request import Request
from belvedere.base.networks import is_loopback, is_loopback_url
from belvedere.rest.route import Route
from belvedere.server.runtime import runtime_of
from belvedere.settings import Settings

# More addresses than this do not help anyone to choose.
MAX_ADDRESSES = 8
# Addresses for documentation (RFC 5737, RFC 3849). Connecting a UDP socket sends nothing; it only
# selects the address of this machine that the default route uses.
_ROUTE_PROBES = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
# SIOCGIFADDR of Linux: the IPv4 address of an interface.
_GET_INTERFACE_ADDRESS = 0x8915


class InstallAddress(msgspec.Struct):
    """`url`: the address of --url, or empty. `listens_on_loopback`: no other machine can connect.
    `addresses`: addresses of this machine that others may be able to reach. `options`: for each
    of them, the options to restart the server with; empty if --url suits other machines."""

    url: str
    listens_on_loopback: bool
    addresses: list[str]
    options: list[str]


async def show(request: Request[None]) -> InstallAddress:
    return describe(runtime_of(request).settings, machine_addresses())


def describe(settings: Settings, hosts: list[str]) -> InstallAddress:
    if settings.url and not is_loopback_url(settings.url):
        return InstallAddress(settings.base_url, False, [], [])
    listens_on_loopback = is_loopback(settings.host)
    scheme = "https" if settings.tls_cert else "http"
    addresses = [f"{scheme}://{host}:{settings.port}" for host in hosts]
    options = [_start_options(address, listens_on_loopback) for address in addresses]
    return InstallAddress(settings.url.rstrip("/"), listens_on_loopback, addresses, options)


def _start_options(address: str, listens_on_loopback: bool) -> str:
    every_address = "::" if "[" in address else "0.0.0.0"
    listen = f"--host {every_address} " if listens_on_loopback else ""
    return f"{listen}--url {address}"


def machine_addresses() -> list[str]:
    """Addresses of this machine as in a URL, the one of the default route first, then its name."""
    texts = [*_route_addresses(), *_interface_addresses()]
    usable = [text for text in texts if _is_usable(text)]
    urls = [f"[{text}]" if ":" in text else text for text in usable]
    name = socket.gethostname()
    names = [] if is_loopback(name) else [name]
    return list(dict.fromkeys([*urls[: MAX_ADDRESSES - 1], *names]))


def _is_usable(text: str) -> bool:
    try:
        address = ip_address(text)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_link_local or address.is_unspecified)


def _route_addresses() -> list[str]:
    addresses = []
    for family, probe in _ROUTE_PROBES:
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as udp:
            udp.connect((probe, 9))
            addresses.append(str(udp.getsockname()[0]))
    return addresses


def _interface_addresses() -> list[str]:
    if sys.platform != "linux":
        return []
    import fcntl

    addresses = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        for _, name in socket.if_nameindex():
            # An interface without an IPv4 address raises EADDRNOTAVAIL.
            with contextlib.suppress(OSError):
                request = name.encode()[:15].ljust(40, b"\0")
                reply = fcntl.ioctl(udp.fileno(), _GET_INTERFACE_ADDRESS, request)
                addresses.append(socket.inet_ntoa(reply[20:24]))
    return addresses


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/api/enrolment/address",
        "admin",
        show,
        "Show the addresses at which new hosts reach this server",
        style="plain",
        answer=InstallAddress,
        from_interface=False,
    ),
)
