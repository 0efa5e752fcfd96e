"""Log lines about the jobs of this host. They are at level DEBUG, except those about scripts whose
outcome is unknown."""

import logging
from typing import Any

from belvedere.base.log_format import of_trace
from belvedere.base.text import trace_context
from belvedere.protocol import Order

log = logging.getLogger("belvedere.agent")


class JobLog:
    """Knows the jobs by their fences, because messages of the keeper have only these."""

    def __init__(self) -> None:
        # Job and trace context of each open attempt.
        self._ids: dict[int, tuple[str, str]] = {}

    def order(self, order: Order) -> None:
        self._ids[order.fence] = order.job_id, order.env.get(trace_context.VARIABLE, "")
        self._log(logging.DEBUG, "order received", order.fence)

    def resume(self, entry: dict[str, Any]) -> None:
        """An attempt of the keeper's journal, after a new connection."""
        self._ids.setdefault(entry["fence"], (entry.get("job_id", ""), ""))
        if entry["report"] is not None:
            self.ended(entry["fence"], entry["report"])

    def started(self, fence: int) -> None:
        self._log(logging.DEBUG, "script started", fence)

    def ended(self, fence: int, report: dict[str, Any]) -> None:
        if report["ending"] == "unknown":
            self._log(logging.WARNING, "script outcome is unknown", fence, report.get("reason", ""))
        else:
            self._log(logging.DEBUG, "script ended", fence, report["ending"])
        self.forget(fence)

    def forget(self, fence: int) -> None:
        self._ids.pop(fence, None)

    def _log(self, level: int, text: str, fence: int, ending: str = "") -> None:
        if log.isEnabledFor(level):
            job_id, trace = self._ids.get(fence, ("", ""))
            context = trace_context.parse(trace)
            trace_id = context.trace_id if context else ""
            state = f" ending={ending}" if ending else ""
            log.log(
                level, "%s job=%s fence=%d%s", text, job_id, fence, state, extra=of_trace(trace_id)
            )
