"""Trusted proxies, and peers that look like an undeclared proxy."""

import ipaddress
import logging
from collections import OrderedDict
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from belvedere.base.clock import DAY, HOUR, Clock, Millis
from belvedere.db import Tx, installation

log = logging.getLogger("belvedere.proxies")
# A longer chain of proxies is cut.
MAX_HOPS = 20
# Peers that are stored, and log lines about them per hour.
MAX_PEERS = 32
MAX_PEER_AGE: Millis = 7 * DAY
FORWARDED = frozenset((b"x-forwarded-for", b"forwarded", b"x-real-ip"))
_META = "undeclared_proxies"

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def networks(text: str) -> tuple[Network, ...]:
    """Addresses and networks such as 10.0.0.0/8, separated by commas."""
    parsed = {part.strip(): _network(part.strip()) for part in text.split(",") if part.strip()}
    for part in (part for part, network in parsed.items() if network is None):
        # Earlier versions took any text here and never matched it: such a server still starts.
        log.warning("--proxies: ignored, neither an address nor a network value=%s", part)
    return tuple(network for network in parsed.values() if network is not None)


def _network(text: str) -> Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


class Proxies:
    """The declared proxies, and other peers that send forwarded headers."""

    def __init__(self, text: str, clock: Clock) -> None:
        self._declared = networks(text)
        self._clock = clock
        # When each peer last sent such headers, and when that was last logged.
        self._peers: OrderedDict[str, Millis] = OrderedDict()
        self._logged: OrderedDict[str, Millis] = OrderedDict()
        self.trusts = lru_cache(maxsize=4_096)(self._trusts)

    def _trusts(self, address: str) -> bool:
        peer = _address(address)
        return peer is not None and any(peer in network for network in self._declared)

    def covers(self, network: str) -> bool:
        """Whether a network of the limits, such as 10.0.0.1 or 2001:db8::/64, contains a declared
        proxy or is part of a declared network."""
        candidate = _network(network)
        return candidate is not None and any(
            candidate.overlaps(declared) for declared in self._declared
        )

    def client(self, peer: str, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """The client's address from a trusted peer: the last hop that is not a declared proxy."""
        lines = [value for name, value in headers if name == b"x-forwarded-for"]
        hops = b",".join(lines).decode("latin-1").rsplit(",", MAX_HOPS)[-MAX_HOPS:]
        last = peer
        for hop in reversed(hops):
            hop_address = _address(hop)
            if hop_address is None:
                # Invalid: the hops further to the left cannot be trusted either.
                return last
            last = str(hop_address)
            if not self.trusts(last):
                return last
        return last

    def record(self, peer: str) -> None:
        """An untrusted peer sent a forwarded header."""
        now = self._clock()
        if len(self._peers) < MAX_PEERS or peer in self._peers:
            self._peers[peer] = now
        if self._may_log(peer, now):
            log.warning(
                "forwarded headers from an undeclared proxy are ignored; if it is your proxy,"
                " add it to --proxies peer=%s",
                peer,
            )

    def _may_log(self, peer: str, now: Millis) -> bool:
        while self._logged and next(iter(self._logged.values())) <= now - HOUR:
            self._logged.popitem(last=False)
        if peer in self._logged or len(self._logged) >= MAX_PEERS:
            return False
        self._logged[peer] = now
        return True

    def undeclared(self) -> list[str]:
        """Peers that looked like a proxy within the last week."""
        self._drop_old()
        return list(self._peers)

    def _drop_old(self) -> None:
        since = self._clock() - MAX_PEER_AGE
        self._peers = OrderedDict((peer, at) for peer, at in self._peers.items() if at > since)

    def save(self, tx: Tx) -> None:
        """Merge with the peers that other servers and earlier starts stored."""
        self._drop_old()
        merged = {**undeclared_peers(tx, self._declared), **self._peers}
        newest = dict(sorted(merged.items(), key=lambda pair: pair[1])[-MAX_PEERS:])
        self._peers = OrderedDict(newest)
        # Also when a peer is declared by now: `doctor` does not know the options of the server.
        if newest != undeclared_peers(tx, ()):
            installation.write(tx, _META, msgspec.json.encode(newest).decode())


def undeclared_peers(tx: Tx, declared: tuple[Network, ...]) -> dict[str, Millis]:
    """Peers of the last week that are still not declared, and when each was last seen."""
    text = installation.read(tx, _META)
    peers = msgspec.json.decode(text or "{}", type=dict[str, Millis])
    since = tx.now - MAX_PEER_AGE
    return {
        peer: at
        for peer, at in peers.items()
        if at > since and not any((_address(peer) or 0) in network for network in declared)
    }


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Accepts a port, as some proxies add it; an IPv4-mapped address becomes IPv4."""
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address
