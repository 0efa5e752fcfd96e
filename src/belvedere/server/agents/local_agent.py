"""The agent that `belvedere up` brings along, in the server's own process: two wakings of another
process less for every job, and the memory of one. Scripts run below its keeper, which outlives us.
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
from belvedere.agent.connection.server_link import Link
from belvedere.agent.keeper_client import KeeperFailed
from belvedere.agent.monitoring.checker_process import BACK_OFF_S, Outpost
from belvedere.agent.setup import enrolment as enrol
from belvedere.agent.setup.enrolment import CannotEnrol, Credential
from belvedere.agent.setup.machine import fingerprint
from belvedere.agent.setup.settings import Settings
from belvedere.base.errors import NotFound, Refused
from belvedere.db import Tx
from belvedere.hosts import store
from belvedere.server.agents.in_process import HERE, call
from belvedere.server.http.app import App
from belvedere.server.runtime import ServerRuntime

log = logging.getLogger("belvedere.agent")

# Of the enrolment token, which is used in the transaction that creates it.
LIFE_S = 600


def state_folder(runtime: ServerRuntime) -> Path:
    return runtime.settings.folder / "agent"


async def keep_running(app: App) -> None:
    """Run it until cancelled."""
    # What agents write is nobody else's, whatever the person's own mask says.
    os.umask(0o077)
    tries = 0
    while True:
        try:
            await _run(app)
        except (Refused, CannotEnrol, KeeperFailed, OSError) as fault:
            log.error("The local agent does not start: %s", fault)
        except Exception:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                # A fault on the way out is no reason to stay.
                raise
            log.exception("The local agent failed; trying again.")
        await asyncio.sleep(BACK_OFF_S[min(tries, len(BACK_OFF_S) - 1)])
        tries += 1


async def _run(app: App) -> None:
    runtime = app.runtime
    settings = Settings(
        runtime.settings.base_url,
        str(state_folder(runtime)),
        hostname=socket.gethostname(),
        scripts_user=runtime.settings.scripts_user,
    )
    state = folder.prepare(settings.state)
    held = folder.lock(state, "agent")
    if held is None:
        raise OSError(f"Another agent runs with the state folder {state.root}.")
    try:
        credential = enrol.load(state)
        if credential is None:
            mark = fingerprint(state, settings.hostname)
            credential = await runtime.db.write(_enrolled, runtime, settings.hostname, mark)
            enrol.save(state, credential)
        dial, lookout = partial(call, app, credential.token), partial(Outpost, state.root)
        await Link(settings, state, credential, dial, lookout).run()
    finally:
        os.close(held)


def _enrolment_text(tx: Tx, runtime: ServerRuntime, operator: Actor, hostname: str) -> str:
    """The process that runs the server has the operator's rights, so its own host is bound again
    automatically when the credential file of its agent is gone."""
    known = store.by_name(tx, operator.customer_id, hostname)
    if known is not None:
        return hosts.create_host_enrolment(tx, runtime.keyring, operator, known.id, LIFE_S)[1]
    return enrolment.create_enrolment(
        tx, runtime.keyring, operator, name="local agent", uses=1, life_s=LIFE_S
    )[1]


def _enrolled(tx: Tx, runtime: ServerRuntime, hostname: str, mark: str) -> Credential:
    """In the organization of the first start, else in the oldest one."""
    name = tx.value("select name from customers where enabled = 1 order by id limit 1")
    found = service.by_name(tx, name or "")
    if found is None:
        raise NotFound("There is no organization yet.", code="customer_not_found")
    text = _enrolment_text(tx, runtime, service.operator(found), hostname)
    made = hosts.enrol(tx, runtime.keyring, text, hostname, mark, HERE[0])
    return Credential(made.token, made.host_id, made.customer, made.hostname)
