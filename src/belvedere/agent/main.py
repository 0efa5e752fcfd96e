"""The agent's program: enrol if needed, then run until it is stopped."""

import asyncio
import logging
import os
import signal
import ssl
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from belvedere import __version__
from belvedere.agent import state_folder
from belvedere.agent.connection.server_link import ServerLink, network_dialer
from belvedere.agent.keeper_client import KeeperFailed
from belvedere.agent.monitoring.checker_process import CheckerProcess
from belvedere.agent.setup import enrolment
from belvedere.agent.setup.enrolment import CannotEnrol, Credential, Unreachable
from belvedere.agent.setup.settings import TOKEN_VARIABLE, AgentSettings, parse
from belvedere.agent.state_folder import StateFolder
from belvedere.agent.updates import programs
from belvedere.agent.updates.programs import Programs
from belvedere.agent.updates.transfer import AgentUpdates, UpdateReady
from belvedere.base import log_format, secret_environment

log = logging.getLogger("belvedere.agent")
RETRY_ENROLMENT_S = 3.0
# A new version has this long to connect.
TRIAL_S = 300.0


class TrialFailed(Exception):
    """The new version did not connect; the agent returns to the one before."""


def main(argv: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else list(argv)
    if words == ["--version"]:
        print(f"{programs.NAME} {__version__}")
        return 0
    if argv is None:
        secret_environment.hide([TOKEN_VARIABLE])
    return perform(parse(words, os.environ))


def perform(settings: AgentSettings) -> int:
    """Run in this process, or install the agent as a service."""
    is_json = settings.log_format == "json"
    log_format.configure(settings.log_level.upper(), log_format.SHORT, as_json=is_json)
    secret_environment.remove([TOKEN_VARIABLE])
    if settings.action == "run":
        return run(settings)
    from belvedere.agent.setup.install import install

    return install(settings)


def run(settings: AgentSettings) -> int:
    """Run until SIGTERM or SIGINT; 1 if the agent cannot start. Scripts and keeper keep running."""
    os.umask(0o077)
    warn_of_plain_http(settings)
    state = state_folder.prepare(settings.state)
    lock_fd = state_folder.lock(state, "agent")
    if lock_fd is None:
        log.error("another agent uses this state folder folder=%s", state.root)
        return 1
    own_programs = programs.find(state)
    next_program: Path | None = None
    try:
        if settings.updates and enrolment.load_saved(settings, state, is_required=False):
            next_program = own_programs.select()
        if next_program is None:
            asyncio.run(_serve(settings, state, own_programs))
    except UpdateReady as ready:
        next_program = ready.path
    except TrialFailed:
        next_program = own_programs.base
    except (CannotEnrol, KeeperFailed, OSError) as fault:
        log.error("agent failed error=%s", fault)
        return 1
    finally:
        os.close(lock_fd)
    if next_program is not None:
        own_programs.execute(next_program)
        return 1
    return 0


def warn_of_plain_http(settings: AgentSettings) -> None:
    """Everybody between this host and the server could read the credential and run scripts."""
    if settings.is_unprotected:
        log.warning(
            "the connection to the server is not encrypted: others on the network can read it and"
            " run scripts on this host; use an https:// address server=%s",
            settings.server,
        )


async def _serve(settings: AgentSettings, state: StateFolder, own_programs: Programs) -> None:
    trusted = enrolment.tls_context(settings)
    task = asyncio.ensure_future(_enrol_and_link(settings, state, trusted, own_programs))
    loop = asyncio.get_running_loop()
    for stop in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(stop, task.cancel)
    if own_programs.is_on_trial:
        loop.call_later(TRIAL_S, _end_trial, task, own_programs)
    try:
        await task
    except asyncio.CancelledError:
        if own_programs.has_returned:
            raise TrialFailed from None
        log.info("agent stopped; running scripts continue and the next start adopts them")


def _end_trial(task: "asyncio.Future[None]", own_programs: Programs) -> None:
    """A new version that cannot connect is replaced by the one before."""
    if own_programs.is_on_trial:
        text = f"Version {__version__} did not connect to the server within {TRIAL_S:.0f} s."
        log.error("update failed; rolling back to the previous version reason=%s", text)
        own_programs.go_back(text)
        task.cancel()


async def _enrol_and_link(
    settings: AgentSettings,
    state: StateFolder,
    trusted: ssl.SSLContext | None,
    own_programs: Programs,
) -> None:
    credential = await _credential(settings, state, trusted)
    dial, checks = (
        network_dialer(settings, credential, trusted),
        partial(CheckerProcess, state.root),
    )
    updates = AgentUpdates(state, credential.host_id, own_programs) if settings.updates else None
    await ServerLink(settings, state, credential, dial, checks, updates=updates).run()


async def _credential(
    settings: AgentSettings, state: StateFolder, trusted: ssl.SSLContext | None
) -> Credential:
    saved = enrolment.load_saved(settings, state)
    while saved is None:
        try:
            saved = await asyncio.to_thread(enrolment.enrol, settings, state, trusted)
        except Unreachable as fault:
            log.warning("enrolment failed; retrying server=%s error=%s", settings.server, fault)
            await asyncio.sleep(RETRY_ENROLMENT_S)
    return saved
