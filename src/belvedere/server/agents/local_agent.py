"""The agent of `belvedere up`, in the server's process: this saves two process switches per job
and the memory of a process. Scripts run under its keeper, which outlives the server.
"""

import asyncio
import logging
import os
import socket
from functools import partial
from pathlib import Path

from belvedere import hosts
from belvedere.access import Actor
from belvedere.access.credentials import enrolment
from belvedere.access.customers import service
from belvedere.agent import state_folder as folder
from belvedere.agent.connection.server_link import ServerLink
from belvedere.agent.keeper_client import KeeperFailed
from belvedere.agent.monitoring.checker_process import BACK_OFF_S, CheckerProcess
from belvedere.agent.setup import enrolment as enrol
from belvedere.agent.setup.enrolment import CannotEnrol, Credential
from belvedere.agent.setup.machine import fingerprint
from belvedere.agent.setup.settings import AgentSettings
from belvedere.base.errors import NotFound, Refused
from belvedere.db import Tx
from belvedere.hosts import store
from belvedere.server.agents.in_process import HERE, connect
from belvedere.server.http.app import App
from belvedere.server.runtime import ServerRuntime

log = logging.getLogger("belvedere.agent")

# Lifetime of the enrolment token, which is used in the transaction that creates it.
LIFE_S = 600


def state_folder(runtime: ServerRuntime) -> Path:
    return runtime.settings.folder / "agent"


async def keep_running(app: App) -> None:
    """Run the agent until cancelled; start it again when it fails."""
    # Other users must not read the agent's files, whatever umask the operator uses.
    os.umask(0o077)
    tries = 0
    while True:
        try:
            await _run(app)
        except (Refused, CannotEnrol, KeeperFailed, OSError) as fault:
            log.error("local agent cannot start error=%s", fault)
        except Exception:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                # An error during the shutdown must not restart the agent.
                raise
            log.exception("local agent failed; restarting")
        await asyncio.sleep(BACK_OFF_S[min(tries, len(BACK_OFF_S) - 1)])
        tries += 1


async def _run(app: App) -> None:
    runtime = app.runtime
    settings = AgentSettings(
        runtime.settings.base_url,
        str(state_folder(runtime)),
        hostname=socket.gethostname(),
        scripts_user=runtime.settings.scripts_user,
    )
    state = folder.prepare(settings.state)
    lock = folder.lock(state, "agent")
    if lock is None:
        raise OSError(f"Another agent runs with the state folder {state.root}.")
    try:
        credential = enrol.load(state)
        if credential is None:
            machine_fingerprint = fingerprint(state, settings.hostname)
            credential = await runtime.db.write(
                _enrol, runtime, settings.hostname, machine_fingerprint
            )
            enrol.save(state, credential)
        dial, checks = partial(connect, app, credential.token), partial(CheckerProcess, state.root)
        await ServerLink(settings, state, credential, dial, checks).run()
    finally:
        os.close(lock)


def _enrolment_text(tx: Tx, runtime: ServerRuntime, operator: Actor, hostname: str) -> str:
    """The server's process has the operator's permissions, so it enrols its own host again when
    the credential file of its agent is missing."""
    host = store.by_name(tx, operator.customer_id, hostname)
    if host is not None:
        return hosts.create_host_enrolment(tx, runtime.keyring, operator, host.id, LIFE_S)[1]
    return enrolment.create_enrolment(
        tx, runtime.keyring, operator, name="local agent", uses=1, life_s=LIFE_S
    )[1]


def _enrol(tx: Tx, runtime: ServerRuntime, hostname: str, machine_fingerprint: str) -> Credential:
    """Enrol in the organization of the first start, else in the oldest one."""
    name = tx.value("select name from customers where enabled = 1 order by id limit 1")
    customer = service.by_name(tx, name or "")
    if customer is None:
        raise NotFound("There is no organization yet.", code="customer_not_found")
    text = _enrolment_text(tx, runtime, service.operator(customer), hostname)
    enrolled = hosts.enrol(tx, runtime.keyring, text, hostname, machine_fingerprint, HERE[0])
    return Credential(enrolled.token, enrolled.host_id, enrolled.customer, enrolled.hostname)
