"""Which addresses lie inside: loopback, private and link-local networks, and every spelling of
them that another protocol carries. Our own tables, so that every Python says the same."""

from collections.abc import Sequence
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_V4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared by the customers of a provider, with its metadata service
        "127.0.0.0/8",
        "168.63.129.16/32",  # a provider's own service to its machines, on a public address
        "169.254.0.0/16",  # link-local, with the metadata services
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",  # documentation, as are the next but two
        "192.88.99.0/24",  # the way into 6to4
        "192.168.0.0/16",
        "198.18.0.0/15",  # measurements
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",  # many at once
        "240.0.0.0/4",  # never given out, and the broadcast
    )
)
# Of IPv6 only this is given out to the world ...
_V6_WORLD = IPv6Network("2000::/3")
# ... except these.
_V6 = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocols, among them Teredo, whose far end nobody can tell
        "2001:db8::/32",
        "3fff::/20",
    )
)
_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_SIX_TO_FOUR = IPv6Network("2002::/16")
# The third word of an interface that tunnels to the IPv4 address in the last two.
_ISATAP = (0x00005EFE, 0x02005EFE)


def read(text: str) -> Address | None:
    """The address that a text spells, without its zone; a name is none."""
    try:
        return ip_address(text.partition("%")[0])
    except ValueError:
        return None


def is_inner(address: Address) -> bool:
    """Whether it is not out in the world."""
    if isinstance(address, IPv4Address):
        return any(address in network for network in _V4)
    inside = carried(address)
    if inside is not None and is_inner(inside):
        return True
    if address in _MAPPED or address in _NAT64:
        return False
    return address not in _V6_WORLD or any(address in network for network in _V6)


def carried(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address to which this one leads."""
    number = int(address)
    if address in _MAPPED or address in _NAT64:
        return IPv4Address(number & 0xFFFF_FFFF)
    if address in _SIX_TO_FOUR:
        return IPv4Address(number >> 80 & 0xFFFF_FFFF)
    if number >> 32 & 0xFFFF_FFFF in _ISATAP:
        return IPv4Address(number & 0xFFFF_FFFF)
    return None


def may_call(address: Address, allowed: Sequence[Network]) -> bool:
    """Whether it is out in the world, or in a network that somebody allowed."""
    if not is_inner(address):
        return True
    inside = carried(address) if isinstance(address, IPv6Address) else None
    return any(one in network for network in allowed for one in (address, inside) if one)


def networks(text: str) -> tuple[Network, ...]:
    """Networks and addresses, separated by commas; ValueError names what is none."""
    found = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        try:
            found.append(ip_network(word, strict=False))
        except ValueError:
            raise ValueError(f"{word!r} is no network such as 10.0.0.0/8") from None
    return tuple(found)
