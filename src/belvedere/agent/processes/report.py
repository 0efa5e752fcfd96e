"""The report of an ended attempt."""

from __future__ import annotations

import os
import signal

from belvedere.agent.processes.script import RunningScript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from belvedere.agent.journal.state import Report


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
