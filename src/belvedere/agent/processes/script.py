"""A running script, or one that is being ended: its process, output and deadlines; and the
report at its end."""

from __future__ import annotations

import os
import signal
import time
from functools import partial

from belvedere.agent.processes.spawn import PreparedScript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from belvedere.agent.journal.state import Report

MS = 1_000_000
# The output of a script that ends sooner is read once, at its end, without polling its pipe.
READ_AFTER = 15 * MS
# The start of a script that runs this long is reported.
STARTED_AFTER = 50 * MS
# Output is collected for this time before it is reported to the agent.
SHOW_AFTER = 40 * MS
NEVER = 1 << 62

CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


# A monotonic clock that includes suspend time.
now_ns = partial(time.clock_gettime_ns, CLOCK)


def is_check(fence: int) -> bool:
    """Scripts of monitors have negative numbers, which the agent chooses; fences are positive."""
    return fence < 0


class RunningScript:
    __slots__ = (
        "announced",
        "daemonize",
        "deadline",
        "due",
        "ended_at",
        "fence",
        "grace",
        "kill_at",
        "killed",
        "look_at",
        "mark",
        "output",
        "pause",
        "pid",
        "pipe",
        "place",
        "polled",
        "show_at",
        "reported_total",
        "started_at",
        "status",
        "survivors",
        "why",
    )

    def __init__(
        self,
        script: PreparedScript,
        pid: int,
        pipe: int,
        started_at: int,
    ) -> None:
        order = script.order
        self.fence: int = order["fence"]
        self.pid = pid
        self.pipe = pipe
        self.place = script.place
        self.output = script.output
        self.mark = script.mark
        self.daemonize: bool = order["daemonize"]
        self.grace: int = order["grace_ms"] * MS
        self.started_at = started_at
        timeout: int = order["timeout_ms"] * MS
        self.deadline = self.started_at + timeout if timeout > 0 else NEVER
        self.ended_at = 0
        # The wait status of the main process; None while it runs.
        self.status: int | None = None
        # Why it is being ended: canceled, timeout, stopped; leftovers if only children remain.
        self.why = ""
        self.kill_at = self.look_at = NEVER
        self.pause = 0
        self.killed = False
        self.survivors: list[int] = []
        self.polled = self.announced = False
        self.show_at = NEVER
        self.reported_total = 0
        self.due = self.started_at + READ_AFTER

    def plan(self) -> None:
        """Set the time of the next update."""
        self.due = min(
            self.look_at if self.why else self.deadline,
            self.show_at,
            NEVER if self.announced else self.started_at + STARTED_AFTER,
            NEVER if self.polled else self.started_at + READ_AFTER,
        )


def report(script: RunningScript) -> Report:
    """The fields of protocol.Report; those at their defaults may be left out."""
    fields: Report = {"ending": "exit" if script.why in ("", "leftovers") else script.why}
    if script.status is not None:
        fields["elapsed_ns"] = script.ended_at - script.started_at
        fields.update(_exit(script.status))
    fields.update(script.output.summary())
    if script.survivors:
        fields["survivors"] = script.survivors
    return fields


def _exit(status: int) -> Report:
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return {"code": code}
    return {"code": 128 - code, "signal": signal_name(-code)}


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
