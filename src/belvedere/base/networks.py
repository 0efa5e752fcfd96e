"""Which addresses are internal: loopback, private and link-local networks, also as IPv4 addresses
embedded in IPv6 ones. Own tables, because those of `ipaddress` differ between Python versions."""

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from urllib.parse import urlsplit

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_V4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT; metadata services of some providers
        "127.0.0.0/8",
        "168.63.129.16/32",  # Azure's host service, on a public address
        "169.254.0.0/16",  # link-local, with the metadata services
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",  # documentation, like 198.51.100.0/24 and 203.0.113.0/24
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
# Only this range of IPv6 is public ...
_V6_PUBLIC = IPv6Network("2000::/3")
# ... except these.
_V6 = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments, including Teredo, whose endpoint is unknown
        "2001:db8::/32",
        "3fff::/20",
    )
)
_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_SIX_TO_FOUR = IPv6Network("2002::/16")
# The third 32-bit word of an ISATAP address; the last word is the IPv4 address.
_ISATAP = (0x00005EFE, 0x02005EFE)


def parse_address(text: str) -> Address | None:
    """The IP address in a text, without its zone; None for a host name."""
    try:
        return ip_address(text.partition("%")[0])
    except ValueError:
        return None


def is_loopback(host: str) -> bool:
    """Whether this name or address only leads to the machine itself."""
    address = parse_address(host)
    if address is None:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback


def is_loopback_url(url: str) -> bool:
    return is_loopback(urlsplit(url).hostname or "")


def is_internal(address: Address) -> bool:
    """Whether the address is not public."""
    if isinstance(address, IPv4Address):
        return any(address in network for network in _V4)
    embedded = embedded_ipv4(address)
    if embedded is not None and is_internal(embedded):
        return True
    if address in _MAPPED or address in _NAT64:
        return False
    return address not in _V6_PUBLIC or any(address in network for network in _V6)


def embedded_ipv4(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that this one contains, if any."""
    number = int(address)
    if address in _MAPPED or address in _NAT64:
        return IPv4Address(number & 0xFFFF_FFFF)
    if address in _SIX_TO_FOUR:
        return IPv4Address(number >> 80 & 0xFFFF_FFFF)
    if number >> 32 & 0xFFFF_FFFF in _ISATAP:
        return IPv4Address(number & 0xFFFF_FFFF)
    return None


def may_call(address: Address, allowed: Sequence[Network]) -> bool:
    """Whether the address is public, or in an allowed network."""
    if not is_internal(address):
        return True
    embedded = embedded_ipv4(address) if isinstance(address, IPv6Address) else None
    return any(
        candidate in network
        for network in allowed
        for candidate in (address, embedded)
        if candidate
    )


def parse_networks(text: str) -> tuple[Network, ...]:
    """Networks and addresses, separated by commas; ValueError names the first invalid one."""
    networks = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        try:
            networks.append(ip_network(word, strict=False))
        except ValueError:
            raise ValueError(f"{word!r} is not a network; write it as 10.0.0.0/8") from None
    return tuple(networks)


@lru_cache(maxsize=4_096)
def client_network(text: str) -> str:
    """The network that limits count for an address: one IPv4 address, or the 64 bits of IPv6 that
    one customer of an internet provider gets. Other texts are returned unchanged."""
    address = parse_address(text)
    if address is None:
        return text
    if isinstance(address, IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ip_network((address, 64), strict=False))
