"""Which proxies are believed, and which peers look like a proxy that nobody declared."""

import ipaddress
import logging
from collections import OrderedDict
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from belvedere.base.clock import DAY, HOUR, Clock, Millis
from belvedere.db import Tx

log = logging.getLogger("belvedere.proxies")
# A chain of proxies that is longer is cut.
MAX_HOPS = 20
# So many peers are remembered, and so many log lines an hour are written about them.
MAX_PEERS = 32
REMEMBERED: Millis = 7 * DAY
FORWARDED = (b"x-forwarded-for", b"forwarded", b"x-real-ip")
_META = "undeclared_proxies"

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def networks(text: str) -> tuple[Network, ...]:
    """Addresses and networks such as 10.0.0.0/8, separated by commas."""
    found = {part.strip(): _network(part.strip()) for part in text.split(",") if part.strip()}
    for part in (part for part, network in found.items() if network is None):
        # Earlier versions took any text here and never matched it: such a server still starts.
        log.warning("--proxies: ignored, neither an address nor a network value=%s", part)
    return tuple(network for network in found.values() if network is not None)


def _network(text: str) -> Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


class Proxies:
    """The declared ones, and since when which others send forwarded headers."""

    def __init__(self, text: str, clock: Clock) -> None:
        self._declared = networks(text)
        self._clock = clock
        # When each peer sent such headers last, and when that was logged last.
        self._peers: OrderedDict[str, Millis] = OrderedDict()
        self._logged: OrderedDict[str, Millis] = OrderedDict()
        self.trusts = lru_cache(maxsize=4_096)(self._trusts)

    def _trusts(self, address: str) -> bool:
        found = _address(address)
        return found is not None and any(found in network for network in self._declared)

    def covers(self, network: str) -> bool:
        """Whether a network as limits count it, such as 10.0.0.1 or 2001:db8::/64, holds a declared
        proxy or is part of a declared network."""
        found = _network(network)
        return found is not None and any(found.overlaps(declared) for declared in self._declared)

    def client(self, peer: str, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """Who calls, as a peer that we trust says: the last hop that is no proxy of ours."""
        lines = [value for name, value in headers if name == b"x-forwarded-for"]
        hops = b",".join(lines).decode("latin-1").rsplit(",", MAX_HOPS)[-MAX_HOPS:]
        last = peer
        for hop in reversed(hops):
            found = _address(hop)
            if found is None:
                # Unreadable: nothing further to the left can be believed either.
                return last
            last = str(found)
            if not self.trusts(last):
                return last
        return last

    def note(self, peer: str) -> None:
        """A peer that we do not trust sent a forwarded header."""
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
        """Peers that look like a proxy, the last week."""
        self._forget()
        return list(self._peers)

    def _forget(self) -> None:
        since = self._clock() - REMEMBERED
        self._peers = OrderedDict((peer, at) for peer, at in self._peers.items() if at > since)

    def keep(self, tx: Tx) -> None:
        """Merge with what other servers and earlier starts saw; the database keeps the result."""
        self._forget()
        merged = {**kept(tx, self._declared), **self._peers}
        newest = dict(sorted(merged.items(), key=lambda pair: pair[1])[-MAX_PEERS:])
        self._peers = OrderedDict(newest)
        # Also when a peer is declared by now: `doctor` does not see the options of the server.
        if newest != kept(tx, ()):
            tx.execute(
                "insert into meta (name, value) values (?, ?)"
                " on conflict (name) do update set value = excluded.value",
                _META,
                msgspec.json.encode(newest).decode(),
            )


def kept(tx: Tx, declared: tuple[Network, ...]) -> dict[str, Millis]:
    """Peers of the last week that are still not declared, and when each was seen last."""
    text = tx.value("select value from meta where name = ?", _META)
    found = msgspec.json.decode(text or "{}", type=dict[str, Millis])
    since = tx.now - REMEMBERED
    return {
        peer: at
        for peer, at in found.items()
        if at > since and not any((_address(peer) or 0) in network for network in declared)
    }


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Also with a port, as some proxies write it; IPv4 in IPv6 is IPv4."""
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        found = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        return found.ipv4_mapped
    return found
