"""Monitors with a history."""

from collections.abc import Sequence
from typing import Any

from belvedere.base.clock import MINUTE, Millis
from belvedere.db import Tx
from belvedere.monitors import service as monitors
from belvedere.monitors.config.bodies import MonitorBody
from belvedere.monitors.evaluation import rollups
from belvedere.monitors.evaluation.rollups import StoredSample
from contract.world import World


async def monitor(world: World, name: str = "shop", type: str = "push", **more: Any) -> str:
    if type not in ("push", "nested"):
        more["host_id"] = world.things.hosts["web-1"].host_id
    body = MonitorBody(name=name, type=type, **more)
    record = await world.runtime.db.write(
        monitors.create, world.runtime.keyring, world.actors.ada, body, None
    )
    return record[0].id


def _age(tx: Tx, monitor_id: str, made_at: Millis) -> None:
    tx.execute("update monitors set created_at = ? where id = ?", made_at, monitor_id)


def _move(tx: Tx, monitor_id: str, state: str) -> None:
    tx.execute("update monitors set state = ? where id = ?", state, monitor_id)


async def set_state(world: World, monitor_id: str, state: str) -> None:
    await world.runtime.db.write(_move, monitor_id, state)


async def check(
    world: World,
    monitor_id: str,
    states: Sequence[str],
    *,
    every: Millis = MINUTE,
    measured: dict[str, float] | None = None,
) -> None:
    """Checks in these states, the last of them now, one `every` so often; it is as old as they."""
    now = world.runtime.clock()
    at = [now - every * n for n in reversed(range(len(states)))]
    stored_samples = [
        StoredSample(monitor_id, when, state, "", measured or {})
        for when, state in zip(at, states, strict=True)
        if state
    ]
    await world.runtime.db.write(rollups.add, stored_samples)
    await world.runtime.db.write(_age, monitor_id, at[0])
