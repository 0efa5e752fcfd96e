"""The processes of the host with their use of CPU and memory, the largest first."""

import json
import os
from typing import Any

from belvedere.agent.checks.local_calls import run_once, user_name
from belvedere.agent.checks.outcome import Outcome

MAX_COMMAND = 200
# Bytes of the list: the server drops the data of a check above 32 KiB.
MAX_LIST = 28 * 1024
TICKS_S = os.sysconf("SC_CLK_TCK")
PAGE_KB = os.sysconf("SC_PAGE_SIZE") // 1024
Process = dict[str, Any]


async def check(_: dict[str, Any], memory: dict[str, Any]) -> Outcome:
    return await run_once(memory, list_processes)


def list_processes() -> Outcome:
    uptime_s, memory_kb = _uptime_s(), _memory_kb()
    pids = [name for name in os.listdir("/proc") if name.isdigit()]
    rows = [_process(pid, uptime_s, memory_kb) for pid in pids]
    processes = [process for process in rows if process is not None]
    count = len(processes)
    data = {"count": count, "psaux": _fitting(processes)}
    return Outcome("normal", "success", f"{count} processes", data, {"count": float(count)})


def _fitting(processes: list[Process]) -> list[Process]:
    """The processes that fit into a report: those with most CPU and memory."""
    processes.sort(key=lambda process: (process["%cpu"], process["rss"]), reverse=True)
    size = 0
    for n, process in enumerate(processes):
        size += len(json.dumps(process).encode()) + 2
        if size > MAX_LIST:
            return processes[:n]
    return processes


def _process(pid: str, uptime_s: float, memory_kb: int) -> Process | None:
    """None if it ended in the meantime."""
    try:
        status = _read(f"/proc/{pid}/stat")
        line = _read(f"/proc/{pid}/cmdline").rstrip("\0").replace("\0", " ")
        uid = os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return None
    # The name may contain spaces and parentheses.
    before, _, rest = status.rpartition(")")
    fields = rest.split()
    cpu_s = (int(fields[11]) + int(fields[12])) / TICKS_S
    age_s = max(uptime_s - int(fields[19]) / TICKS_S, 1.0)
    rss = int(fields[21]) * PAGE_KB
    return {
        "user": user_name(uid),
        "pid": int(pid),
        "%cpu": round(100 * cpu_s / age_s, 1),
        "%mem": round(100 * rss / memory_kb, 1),
        "vsz": int(fields[20]) // 1024,
        "rss": rss,
        "state": fields[0],
        "time": f"{int(cpu_s) // 60}:{int(cpu_s) % 60:02d}",
        "command": (line or f"[{before.partition('(')[2]}]")[:MAX_COMMAND],
    }


def _read(path: str) -> str:
    with open(path, "rb") as file:
        return file.read(4_096).decode("utf-8", "replace")


def _uptime_s() -> float:
    return float(_read("/proc/uptime").split()[0])


def _memory_kb() -> int:
    with open("/proc/meminfo", "rb") as file:
        return int(file.readline().split()[1])
