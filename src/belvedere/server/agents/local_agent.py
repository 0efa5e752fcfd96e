"""The agent of `belvedere up`, in the server's process: this saves two process switches per job
and the memory of a process. Scripts run under its keeper, which outlives the server.
"""

import asyncio
import logging
import os
import socket
from functools import partial
from pathlib import Path

from belvedere.agent import state_folder as folder
from belvedere.agent.connection.server_link import REFUSED_PAUSE_S, AgentRefused, ServerLink
from belvedere.agent.keeper_client import KeeperFailed
from belvedere.agent.monitoring.checker_process import BACK_OFF_S, CheckerProcess
from belvedere.agent.setup import enrolment
from belvedere.agent.setup.enrolment import CannotEnrol, Credential, fingerprint
from belvedere.agent.setup.settings import AgentSettings
from belvedere.agent.state_folder import StateFolder
from belvedere.base.errors import Refused
from belvedere.server.agents import local_enrolment
from belvedere.server.agents.in_process import connect
from belvedere.server.agents.local_enrolment import CredentialState, LocalMachine
from belvedere.server.http.app import App
from belvedere.server.runtime import ServerRuntime

log = logging.getLogger("belvedere.agent")


def state_folder(runtime: ServerRuntime) -> Path:
    return runtime.settings.folder / "agent"


class HostDeleted(Exception):
    """The host of the local agent was deleted while the agent was running."""


async def keep_running(app: App) -> None:
    """Run the agent until cancelled or its host is deleted; start it again when it fails."""
    # Other users must not read the agent's files, whatever umask the operator uses.
    os.umask(0o077)
    tries = 0
    while True:
        try:
            await _run(app)
        except HostDeleted:
            log.warning(
                "the host of the local agent was deleted; restart the server to add it again, or"
                " start it with --no-agent"
            )
            return
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
        credential = enrolment.load(state) or await _enrol(runtime, settings, state)
        while True:
            try:
                await _link(app, settings, state, credential).run()
            except AgentRefused:
                credential = await _renew(runtime, settings, state, credential)
    finally:
        os.close(lock)


def _link(
    app: App, settings: AgentSettings, state: StateFolder, credential: Credential
) -> ServerLink:
    checks = partial(CheckerProcess, state.root)
    return ServerLink(
        settings,
        state,
        credential,
        lambda _: connect(app, credential.token),
        checks,
        retries_refusals=False,
    )


async def _enrol(
    runtime: ServerRuntime,
    settings: AgentSettings,
    state: StateFolder,
    previous: Credential | None = None,
) -> Credential:
    machine = LocalMachine(settings.hostname, fingerprint(state, settings.hostname))
    credential = await runtime.db.write(local_enrolment.enrol, runtime.keyring, machine, previous)
    enrolment.save(state, credential)
    return credential


async def _renew(
    runtime: ServerRuntime, settings: AgentSettings, state: StateFolder, credential: Credential
) -> Credential:
    """The credential to continue with after the server refused this one."""
    reason = await runtime.db.read(local_enrolment.state, runtime.keyring, credential)
    if reason is CredentialState.HOST_DELETED:
        # An admin removed the host on purpose. It must not be enrolled again immediately.
        os.unlink(state.credential)
        raise HostDeleted
    if reason is not CredentialState.LOST:
        # Another agent that was enrolled for the host gets the time to connect, and keeps it.
        await asyncio.sleep(REFUSED_PAUSE_S)
    if reason is CredentialState.VALID:
        return credential
    log.warning("credential of the local agent is not valid; enrolling it again")
    return await _enrol(runtime, settings, state, credential)
