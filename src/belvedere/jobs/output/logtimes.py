"""When which lines of a log were written, as near as a piece of output tells: they come at once
from a script that says something, so that this is when the server had it."""

import msgspec

from belvedere.access.services import Services
from belvedere.base.clock import iso
from belvedere.db import Tx
from belvedere.jobs.output.log_stream import Source

MOST = 10_000


class Mark(msgspec.Struct):
    """Lines from this one on were written then, up to the next mark's."""

    line: int
    at: str


class Times(msgspec.Struct):
    """`next`: the line to go on from; null when these are all. Logs of before this was kept have
    no marks."""

    marks: list[Mark]
    next: int | None


async def times(services: Services, found: Source, first: int) -> Times:
    if found.small is None:
        shown: Times = await services.logs.read(_times, found.fence, first)
        return shown
    # So short that it came with the end, from a script that had hardly begun.
    at = found.job.ended_at
    return Times([] if at is None or not found.small else [Mark(1, iso(at))], None)


def _times(tx: Tx, fence: int, first: int) -> Times:
    """Of pieces that begin on the same line the first counts."""
    rows = tx.rows(
        "select at_line + 1, min(written_at) from log_chunks where fence = ? and at_line + 1 >= ?"
        " and written_at is not null group by at_line order by at_line limit ?",
        *(fence, first, MOST + 1),
    )
    marks = [Mark(int(line), iso(int(at))) for line, at in rows]
    return Times(marks[:MOST], marks[MOST].line if len(marks) > MOST else None)
