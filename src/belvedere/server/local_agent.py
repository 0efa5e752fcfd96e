"""The agent that `belvedere up` brings along: enrolled by itself, started again when it dies."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from pathlib import Path

from belvedere.access import customers, enrolment
from belvedere.base.errors import NotFound
from belvedere.db import Tx
from belvedere.server.house import House

BACK_OFF_S = (0.5, 1.0, 2.0, 5.0, 10.0)


def state_folder(house: House) -> Path:
    return house.settings.folder / "agent"


def _permission(tx: Tx, house: House) -> str:
    """A fresh enrolment token for the organization of the first start, else the oldest one."""
    name = tx.value("select name from customers where enabled = 1 order by id limit 1")
    found = customers.by_name(tx, name or "")
    if found is None:
        raise NotFound("There is no organization yet.", code="customer_not_found")
    _, text = enrolment.create_enrolment(
        tx, house.keys, customers.operator(found), name="local agent", uses=1, life_s=600
    )
    return text


async def keep_running(house: House) -> None:
    """Run it until cancelled; scripts live in its keeper and survive every restart."""
    tries = 0
    while True:
        process = await _start(house)
        try:
            code = await process.wait()
        except asyncio.CancelledError:
            await _stop(process)
            raise
        tries = 0 if code == 0 else tries + 1
        await asyncio.sleep(BACK_OFF_S[min(tries, len(BACK_OFF_S) - 1)])


async def _start(house: House) -> asyncio.subprocess.Process:
    state = state_folder(house)
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Its standard input is ours, and ends with us however we end: then the agent goes too.
    env = {**os.environ, "BELVEDERE_LEASH": "1"}
    if not (state / "credential.json").exists():
        env["BELVEDERE_ENROLMENT_TOKEN"] = await house.db.write(_permission, house)
    command = [
        sys.executable,
        "-m",
        "belvedere.cli.main",
        "agent",
        "--server",
        house.settings.base_url,
        "--state",
        str(state),
        "--hostname",
        socket.gethostname(),
    ]
    if house.settings.tls_cert:
        command += ["--tls-ca", house.settings.tls_cert]
    return await asyncio.create_subprocess_exec(
        *command, env=env, start_new_session=True, stdin=asyncio.subprocess.PIPE
    )


async def _stop(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), 5)
    except TimeoutError:
        process.kill()
