"""Whether a name has an address, according to this host's resolver."""

import asyncio
import ipaddress
import socket
import time
from typing import Any

from belvedere.agent.checks.outcome import Outcome, explain

FAMILIES = {"A": socket.AF_INET, "AAAA": socket.AF_INET6}


async def check(config: dict[str, Any], _: dict[str, Any]) -> Outcome:
    began = time.monotonic()
    family = FAMILIES[config["record"].upper()]
    loop = asyncio.get_running_loop()
    try:
        entries = await loop.getaddrinfo(
            config["target"], None, family=family, type=socket.SOCK_STREAM
        )
    except OSError as fault:
        return Outcome("failure", "dns:error", explain(fault, config["target"]))
    took_ms = (time.monotonic() - began) * 1_000
    addresses = sorted({str(entry[4][0]) for entry in entries})
    data = {"addresses": addresses, "ms": round(took_ms, 1)}
    expected = config["address"]
    if expected and _plain(expected) not in map(_plain, addresses):
        message = f"{', '.join(addresses)}, expected {expected}"
        return Outcome("failure", "dns:mismatch", message, data, {"ms": took_ms})
    return Outcome("normal", "success", ", ".join(addresses), data, {"ms": took_ms})


def _plain(address: str) -> str:
    """The canonical form of an address."""
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        return address
