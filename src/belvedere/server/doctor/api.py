"""`GET /api/doctor`: the quick checks of `belvedere doctor`, for owners."""

import asyncio
import logging
import time

import msgspec

from belvedere.access.request import Request
from belvedere.base.clock import iso
from belvedere.base.errors import Unavailable
from belvedere.rest.route import Route
from belvedere.server import doctor
from belvedere.server.doctor.model import Finding
from belvedere.server.runtime import ServerRuntime, runtime_of

log = logging.getLogger("belvedere.server")
# Findings are kept for this long, however many owners ask.
KEEP_S = 10.0


class DoctorReport(msgspec.Struct):
    """`complete`: false if the installation has several organizations; then the findings that name
    organizations, hosts or files are left out."""

    time: str
    complete: bool
    findings: list[Finding]


class Examination:
    """One at a time, on a thread of its own, with connections of its own."""

    def __init__(self, runtime: ServerRuntime) -> None:
        self._runtime = runtime
        self._lock = asyncio.Lock()
        self._report: tuple[float, DoctorReport] | None = None

    async def report(self) -> DoctorReport:
        async with self._lock:
            if self._report is None or time.monotonic() - self._report[0] >= KEEP_S:
                self._report = None
                report = await asyncio.to_thread(self._examine)
                self._report = (time.monotonic(), report)
            return self._report[1]

    def _examine(self) -> DoctorReport:
        try:
            findings, is_complete = doctor.examine_quickly(self._runtime.settings)
        except Unavailable as fault:
            # The reason names hosts and users, which are not for every owner.
            log.warning("installation could not be checked error=%s", fault.message)
            raise Unavailable("The database cannot be checked now; try again shortly.") from None
        return DoctorReport(iso(self._runtime.clock()), is_complete, findings)


async def examine(request: Request[None]) -> DoctorReport:
    return await runtime_of(request).of(Examination).report()


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/api/doctor",
        "owner",
        examine,
        "Check the installation",
        style="plain",
        answer=DoctorReport,
        from_interface=False,
    ),
)
