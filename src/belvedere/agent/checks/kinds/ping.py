"""Whether a host answers an ICMP echo.

An unprivileged datagram socket is used where the system allows it (net.ipv4.ping_group_range), a
raw one where the agent may open it. Where neither is allowed, a TCP connection to port 443 or 80 is
used instead, and the outcome says so: a refused connection also shows that the host is up.
"""

import asyncio
import os
import socket
import struct
import time
from typing import Any

from belvedere.agent.checks.connect import resolve
from belvedere.agent.checks.outcome import Outcome, explain

# (echo request, echo reply)
TYPES = {socket.AF_INET: (8, 0), socket.AF_INET6: (128, 129)}
PROTOCOLS = {socket.AF_INET: socket.IPPROTO_ICMP, socket.AF_INET6: socket.IPPROTO_ICMPV6}
PORTS = (443, 80)


async def check(config: dict[str, Any], memory: dict[str, Any]) -> Outcome:
    try:
        family, address = (await resolve(config, config["target"]))[0]
        echo = _socket(family)
        if echo is None:
            return await _try_tcp(address)
        with echo:
            took_ms = await _echo(echo, family, address, memory)
    except OSError as fault:
        return Outcome("failure", "ping:error", explain(fault, config["target"]))
    data = {"ms": round(took_ms, 2), "address": address, "way": "icmp"}
    return Outcome("normal", "success", f"{address} in {took_ms:.1f} ms", data, {"ms": took_ms})


def _socket(family: int) -> socket.socket | None:
    for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
        try:
            echo = socket.socket(family, kind, PROTOCOLS[socket.AddressFamily(family)])
        except PermissionError:
            continue
        echo.setblocking(False)
        return echo
    return None


async def _echo(echo: socket.socket, family: int, address: str, memory: dict[str, Any]) -> float:
    """Milliseconds until the reply to this request; the caller enforces the timeout."""
    loop = asyncio.get_running_loop()
    request, reply = TYPES[socket.AddressFamily(family)]
    memory["count"] = count = memory.get("count", 0) % 65_535 + 1
    secret = os.urandom(16)
    head = struct.pack("!BBHHH", request, 0, 0, os.getpid() & 0xFFFF, count)
    packet = head[:2] + _checksum(head + secret) + head[4:] + secret
    began = time.monotonic()
    await loop.sock_sendto(echo, packet, (address, 0))
    while True:
        answer = await loop.sock_recv(echo, 1_024)
        # A raw IPv4 socket also returns the IP header.
        if answer[0] >> 4 == 4 and family == socket.AF_INET and len(answer) > 20 + len(packet) - 1:
            answer = answer[(answer[0] & 15) * 4 :]
        if answer[0] == reply and answer.endswith(secret):
            return (time.monotonic() - began) * 1_000


def _checksum(data: bytes) -> bytes:
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total >> 16) + (total & 0xFFFF)
    return struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF)


async def _try_tcp(address: str) -> Outcome:
    """Try TCP if the agent may not send ICMP."""
    began = time.monotonic()
    for port in PORTS:
        try:
            _, writer = await asyncio.open_connection(address, port)
            writer.transport.abort()
        except ConnectionRefusedError:
            pass
        except OSError:
            continue
        took_ms = (time.monotonic() - began) * 1_000
        data = {"ms": round(took_ms, 2), "address": address, "way": f"tcp {port}"}
        message = f"{address} answers on TCP port {port}; this agent may not send ICMP"
        return Outcome("normal", "ping:by_tcp", message, data, {"ms": took_ms})
    message = f"{address} answers on no TCP port of {PORTS}; this agent may not send ICMP"
    return Outcome("failure", "ping:by_tcp", message)
