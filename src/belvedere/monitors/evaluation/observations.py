"""Results of checks with their times, and the lists of processes that some of them contain.

Command lines may contain secrets: a list of processes is stored with the statistics of its host,
for admins, and not in the record of the monitor, which every viewer may read.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere.base.clock import Millis
from belvedere.db import Tx
from belvedere.db.ports import Port
from belvedere.monitors.evaluation.transitions import Outcome
from belvedere.monitors.model import MonitorRow, MonitorType

# The field of `data` with the list of processes.
PROCESSES = "psaux"

# (host, processes): store the list in place of the last one of this host.
store_process_list: Port[[Tx, str, object], None] = Port("monitors.store_process_list")


class Observation(msgspec.Struct):
    """The result of one check."""

    at: Millis
    state: Outcome
    event: str = ""
    message: str = ""
    data: dict[str, Any] = {}
    measured: dict[str, float] = {}


def separate_processes(
    tx: Tx, host_id: str, observations: Sequence[tuple[MonitorRow, Observation]]
) -> None:
    """Store the latest list of processes, and remove all lists from the observations."""
    lists = [
        observation.data.pop(PROCESSES)
        for row, observation in observations
        if row.type == MonitorType.PSAUX and PROCESSES in observation.data
    ]
    if lists:
        store_process_list(tx, host_id, lists[-1])
