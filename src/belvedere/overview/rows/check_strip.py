"""Results of the last checks of a monitor, one letter for each."""

from collections.abc import Sequence

from belvedere.base.clock import HOUR, MINUTE, Millis
from belvedere.db import Tx
from belvedere.db.interface import Row
from belvedere.monitors.evaluation.rollups import RETENTION, UP
from belvedere.monitors.model import MonitorRow, MonitorType
from belvedere.overview.rows.queries import Series, latest_rows

MAX_CHECKS = 30
GOOD, FAILED, MIXED, MISSING = "n", "f", "m", "-"
_SAMPLES = Series("monitor_samples", "monitor_id", "at", "x.at, x.state, x.measured")


def latest_samples(tx: Tx, rows: Sequence[MonitorRow]) -> dict[str, list[Row]]:
    """(at, state, measured) of the last checks of each monitor, newest first."""
    return latest_rows(tx, _SAMPLES, [row.id for row in rows], MAX_CHECKS)


def checks_from_rollups(tx: Tx, rows: Sequence[MonitorRow]) -> dict[str, list[tuple[Millis, str]]]:
    """For monitors with a long interval: their samples are deleted before there are 30."""
    checks: dict[str, list[tuple[Millis, str]]] = {}
    for step in (10 * MINUTE, HOUR):
        ids = [row.id for row in rows if _step(row) == step and has_long_interval(row)]
        where = f" and y.metric = '{UP}' and y.step = {step}"
        series = Series("monitor_rollups", "monitor_id", "at", "x.at, x.count, x.total", where)
        for id_, spans in latest_rows(tx, series, ids, MAX_CHECKS).items():
            checks[id_] = [(at, _letter(count, total)) for at, count, total in spans]
    return checks


def is_periodic(row: MonitorRow) -> bool:
    """Host and nested monitors are recorded only when their state changes, so gaps and uptimes
    have no meaning for them."""
    return row.type not in (MonitorType.HOST, MonitorType.NESTED)


def has_long_interval(row: MonitorRow) -> bool:
    return MAX_CHECKS * row.looptime > RETENTION[0]


def _step(row: MonitorRow) -> Millis:
    return 10 * MINUTE if row.looptime <= 8 * HOUR else HOUR


def _letter(count: int, total: float) -> str:
    if total == count:
        return GOOD
    return FAILED if total == 0 else MIXED


def checks_from_samples(checks: Sequence[Row]) -> list[tuple[Millis, str]]:
    return [(at, FAILED if state == "failure" else GOOD) for at, state, _ in checks]


def strip(row: MonitorRow, checks: Sequence[tuple[Millis, str]], now: Millis) -> str:
    """Oldest first. A gap between checks, or after the last one, is one `-`."""
    max_gap = 5 * max(row.looptime, 10 * MINUTE if has_long_interval(row) else 0) // 2
    letters = ""
    later = now if row.enabled else (checks[0][0] if checks else now)
    for at, letter in checks:
        letters += (MISSING if is_periodic(row) and later - at > max_gap else "") + letter
        later = at
    return letters[:MAX_CHECKS][::-1]
