"""What is said of an attempt that is over."""

from __future__ import annotations

import os
import signal

from belvedere.agent.processes.script import Script

TYPE_CHECKING = False
if TYPE_CHECKING:
    from belvedere.agent.journal.state import Report


def report(script: Script) -> Report:
    """The fields of protocol.Report; those at their defaults may be left out."""
    found: Report = {"ending": "exit" if script.why in ("", "leftovers") else script.why}
    if script.status is not None:
        found["elapsed_ns"] = script.ended_at - script.started_at
        found.update(_exit(script.status))
    found.update(script.output.summary())
    if script.survivors:
        found["survivors"] = script.survivors
    return found


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
