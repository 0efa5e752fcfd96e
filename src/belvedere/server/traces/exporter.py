"""Sends spans in the background. They wait in memory, in a limited number: nothing else waits for
the receiver, and what it does not take is dropped and counted."""

import asyncio
import contextlib
import http.client
import logging
import urllib.error
import urllib.request
from collections import deque

import msgspec

from belvedere.jobs.model import JobRow
from belvedere.server.traces.spans import Span, request_body, spans_of

log = logging.getLogger("belvedere.traces")
PATH = "/v1/traces"
MAX_WAITING = 10_000
BATCH_SIZE = 512
EVERY_S = 2.0
ANSWER_S = 10.0
# What waits at the end of the server is sent within this time.
LAST_S = 3.0
# OSError includes refused connections, timeouts and the error statuses of urllib; the others are
# responses that are not HTTP, and invalid addresses.
FAULTS = (OSError, ValueError, http.client.HTTPException)


class TraceExporter:
    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.exported = 0
        self.dropped = 0
        self._spans: deque[Span] = deque()
        self._is_failing = False
        self._answer_s = ANSWER_S

    def take(self, job: JobRow) -> None:
        """An ended job, after its commit."""
        self._spans.extend(spans_of(job))
        while len(self._spans) > MAX_WAITING:
            self._spans.popleft()
            self.dropped += 1

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            await asyncio.sleep(EVERY_S)
            await self.send_waiting()

    async def close(self) -> None:
        """Send what waits, once; the server does not wait long for the receiver."""
        self._answer_s = LAST_S
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_S):
                await self.send_waiting()
        if self._spans:
            log.warning("spans were dropped at shutdown count=%d", len(self._spans))
            self.dropped += len(self._spans)
            self._spans.clear()

    async def send_waiting(self) -> None:
        """One batch after the other. A batch that fails is dropped, as OTLP allows, and the rest
        waits for the next pass."""
        while self._spans:
            size = min(BATCH_SIZE, len(self._spans))
            batch = [self._spans.popleft() for _ in range(size)]
            body = msgspec.json.encode(request_body(batch))
            try:
                await asyncio.to_thread(self._post, body)
            except asyncio.CancelledError:
                # Not confirmed: `close` sends it again, and receivers ignore spans that they have.
                self._spans.extendleft(reversed(batch))
                raise
            except FAULTS as fault:
                self.dropped += size
                self._report_failure(fault)
                return
            self.exported += size
            self._is_failing = False

    def _post(self, body: bytes) -> None:
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(self.url + PATH, body, headers)
        with urllib.request.urlopen(request, timeout=self._answer_s) as response:
            response.read(1 << 16)

    def _report_failure(self, fault: Exception) -> None:
        """Once, until it works again; only the class, because an address may have a password."""
        if not self._is_failing:
            self._is_failing = True
            status = fault.code if isinstance(fault, urllib.error.HTTPError) else ""
            log.warning("spans were dropped error=%s status=%s", type(fault).__name__, status)
