"""Utilization of the host: CPU, memory, swap and disks, in percent."""

import asyncio
import os
from typing import Any

from belvedere.agent.checks.outcome import Outcome

# Only local file systems: `statvfs` of a network file system can block.
LOCAL = frozenset(
    {"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "jfs", "reiserfs", "vfat", "overlay"}
)
FIRST_SPAN_S = 0.2
NAMES = ("cpu", "mem", "cache", "disk")


async def check(config: dict[str, Any], memory: dict[str, Any]) -> Outcome:
    if "cpu" not in memory:
        memory["cpu"] = _times()
        await asyncio.sleep(FIRST_SPAN_S)
    before, memory["cpu"] = memory["cpu"], _times()
    mem, swap = _memory()
    disks = _disks()
    data = {
        "cpu": _busy(before, memory["cpu"]),
        "mem": mem,
        "cache": swap,
        "disk": [{"name": name, "value": value} for name, value in disks.items()],
    }
    return _evaluate(config["limit"], data)


def _evaluate(limit: dict[str, float], data: dict[str, Any]) -> Outcome:
    """The first value above its limit decides, in this order."""
    measured = {name: data[name] for name in NAMES[:3]}
    measured |= {f"disk {disk['name']}": disk["value"] for disk in data["disk"]}
    for name in NAMES:
        worst = data[name] if name != "disk" else max(disk["value"] for disk in data["disk"])
        if worst > limit[name]:
            message = f"{name} {worst:g} %, limit {limit[name]:g} %"
            return Outcome("failure", f"host:stats:{name}:high", message, data, measured)
    return Outcome("normal", "host:stats:normal", "", data, measured)


def _times() -> tuple[int, int]:
    """(idle, total) CPU time since boot."""
    with open("/proc/stat", "rb") as file:
        numbers = [int(word) for word in file.readline().split()[1:9]]
    return numbers[3] + numbers[4], sum(numbers)


def _busy(before: tuple[int, int], after: tuple[int, int]) -> float:
    span = after[1] - before[1]
    return round(100 * (1 - (after[0] - before[0]) / span), 1) if span > 0 else 0.0


def _memory() -> tuple[float, float]:
    kilobytes: dict[bytes, int] = {}
    with open("/proc/meminfo", "rb") as file:
        for line in file:
            name, _, rest = line.partition(b":")
            kilobytes[name] = int(rest.split()[0])
    total, swap = kilobytes[b"MemTotal"], kilobytes.get(b"SwapTotal", 0)
    free = kilobytes.get(b"MemAvailable", kilobytes[b"MemFree"])
    used_swap = 100 * (1 - kilobytes[b"SwapFree"] / swap) if swap else 0.0
    return round(100 * (1 - free / total), 1), round(used_swap, 1)


def _disks() -> dict[str, float]:
    """By mount point, always with `/`; the same disk only once."""
    percentages: dict[str, float] = {}
    devices: set[int] = set()
    for name in ["/", *_mounts()]:
        try:
            device = os.stat(name).st_dev
            if device not in devices:
                devices.add(device)
                percentages[name] = _full(name)
        except OSError:
            continue
    return percentages


def _mounts() -> list[str]:
    with open("/proc/self/mounts", encoding="utf-8", errors="replace") as file:
        fields = [line.split(" ") for line in file]
    # A space in a name is written as \\040.
    return [disk[1].replace("\\040", " ") for disk in fields if disk[2] in LOCAL]


def _full(name: str) -> float:
    place = os.statvfs(name)
    used = place.f_blocks - place.f_bfree
    # Like df: blocks reserved for root do not count.
    room = used + place.f_bavail
    return round(100 * used / room, 1) if room else 0.0
