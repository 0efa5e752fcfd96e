"""Endpoints for check results that TheEye agents report, one request each.

How such a report is read is registered by the server: the package for TheEye agents is above
this one and must not be imported here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from belvedere.access import Actor
from belvedere.access.request import Request
from belvedere.db import Tx
from belvedere.monitors.api.records import MonitorRecord, to_record
from belvedere.monitors.service import MonitorDetails
from belvedere.rest.route import Route


class ReportBody(msgspec.Struct):
    """The state of a check, the name of an event, and free data."""

    # TheEye's agents send any JSON here: the types are checked where the values are read.
    state: Any = None
    event: Any = None
    data: Any = None


@dataclass(frozen=True, slots=True)
class ReportServices:
    """What the server provides to these endpoints."""

    # Records the result of a check: transaction, agent, id of the monitor, report.
    record: Callable[[Tx, Actor, str, ReportBody], MonitorDetails]


async def record_report(request: Request[ReportBody]) -> MonitorRecord:
    details = await request.services.db.write(
        request.services.of(ReportServices).record, request.actor, request.path["id"], request.body
    )
    return to_record(*details, request.actor)


ROUTES: tuple[Route, ...] = tuple(
    Route(
        method,
        path,
        "agent",
        record_report,
        "Report the result of a check on this agent's host",
        body=ReportBody,
        answer=MonitorRecord,
    )
    for method, path in (("PATCH", "/resource/{id}/state"), ("PUT", "/resource/{id}"))
)
