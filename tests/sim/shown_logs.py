"""The log of a job as its readers get it, and as it must be when output was dropped."""

import json
from collections.abc import Callable, Coroutine, Sequence
from types import SimpleNamespace
from typing import Any, TypeVar

from belvedere.db.sqlite.transaction import SqliteTx
from belvedere.jobs.output import log_stream
from belvedere.jobs.output.log_stream import LogSource

T = TypeVar("T")


class _Logs:
    """Replaces the server's log store."""

    def __init__(self, tx: SqliteTx) -> None:
        self._tx = tx

    async def read(self, operation: Callable[..., T], *params: Any) -> T:
        return operation(self._tx, *params)


def read_shown_text(logs: SqliteTx, source: LogSource) -> bytes:
    """As in `GET /job/{id}/log`."""
    services: Any = SimpleNamespace(logs=_Logs(logs))

    async def collect() -> bytes:
        end = await log_stream.find_end(services, source)
        parts = log_stream.read_text(services, source, 0, end)
        return b"".join([part async for part in parts])

    return _result(collect())


def is_shown_as_complete(logs: SqliteTx, source: LogSource) -> bool:
    """As at the end of the stream of a log."""
    services: Any = SimpleNamespace(logs=_Logs(logs))
    event = _result(log_stream._end(services, source, 0))
    fields = json.loads(event.decode().partition("data: ")[2])
    return bool(fields["complete"])


def _result(work: Coroutine[Any, Any, T]) -> T:
    """No call in it waits."""
    try:
        work.send(None)
    except StopIteration as end:
        value: T = end.value
        return value
    raise AssertionError("reading a log waited for something")


def mark_gaps(output: bytes, dropped: Sequence[tuple[int, int]]) -> bytes:
    """The output with a marker for each range that was dropped; written apart from the product."""
    parts, at = [], 0
    for start, end in _join(dropped):
        marker = f"\n[… {end - start} bytes were cut here: {start} to {end} …]\n"
        parts += [output[at:start], marker.encode()]
        at = end
    return b"".join(parts) + output[at:]


def _join(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges that follow each other are one gap."""
    gaps: list[tuple[int, int]] = []
    for start, end in ranges:
        if gaps and gaps[-1][1] == start:
            gaps[-1] = (gaps[-1][0], end)
        else:
            gaps.append((start, end))
    return gaps
