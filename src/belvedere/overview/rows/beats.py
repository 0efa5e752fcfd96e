"""How a monitor's last checks went, one letter for each."""

from collections.abc import Sequence

from belvedere.base.clock import HOUR, MINUTE, Millis
from belvedere.db import Tx
from belvedere.db.interface import Row
from belvedere.monitors.evaluation.rollups import LIVES, UP
from belvedere.monitors.model import MonitorRow, Type
from belvedere.overview.rows.lines import Series, newest

MOST = 30
GOOD, FAILED, MIXED, SILENT = "n", "f", "m", "-"
_SAMPLES = Series("monitor_samples", "monitor_id", "at", "x.at, x.state, x.measured")


def samples(tx: Tx, rows: Sequence[MonitorRow]) -> dict[str, list[Row]]:
    """(at, state, measured) of each one's last checks, the newest first."""
    return newest(tx, _SAMPLES, [row.id for row in rows], MOST)


def of_rare(tx: Tx, rows: Sequence[MonitorRow]) -> dict[str, list[tuple[Millis, str]]]:
    """For those that are checked so seldom that single checks are forgotten before 30 are made."""
    found: dict[str, list[tuple[Millis, str]]] = {}
    for step in (10 * MINUTE, HOUR):
        ids = [row.id for row in rows if _step(row) == step and is_rare(row)]
        where = f" and y.metric = '{UP}' and y.step = {step}"
        of = Series("monitor_rollups", "monitor_id", "at", "x.at, x.count, x.total", where)
        for id_, spans in newest(tx, of, ids, MOST).items():
            found[id_] = [(at, _letter(count, total)) for at, count, total in spans]
    return found


def is_steady(row: MonitorRow) -> bool:
    """Looked at again and again. A host and a nested monitor are only noted when they change, so
    that neither a gap nor a share of their checks says anything."""
    return row.type not in (Type.HOST, Type.NESTED)


def is_rare(row: MonitorRow) -> bool:
    return MOST * row.looptime > LIVES[0]


def _step(row: MonitorRow) -> Millis:
    return 10 * MINUTE if row.looptime <= 8 * HOUR else HOUR


def _letter(count: int, total: float) -> str:
    if total == count:
        return GOOD
    return FAILED if total == 0 else MIXED


def of_samples(checks: Sequence[Row]) -> list[tuple[Millis, str]]:
    return [(at, FAILED if state == "failure" else GOOD) for at, state, _ in checks]


def strip(row: MonitorRow, checks: Sequence[tuple[Millis, str]], now: Millis) -> str:
    """Oldest first. Where checks are missing there is one `-`, also at the end."""
    longest = 5 * max(row.looptime, 10 * MINUTE if is_rare(row) else 0) // 2
    letters = ""
    later = now if row.enabled else (checks[0][0] if checks else now)
    for at, letter in checks:
        letters += (SILENT if is_steady(row) and later - at > longest else "") + letter
        later = at
    return letters[:MOST][::-1]
