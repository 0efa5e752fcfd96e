"""The keeper: the small process that owns the scripts and the journal and outlives the agent.

One thread, one poll. Each iteration reads everything that is ready (messages of the agent, ended
children, output), lets the rules decide, writes the journal once for all of it, and then acts.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time

from belvedere import __version__
from belvedere.agent import state_folder, wire
from belvedere.agent.journal import rules
from belvedere.agent.journal.effects import (
    ClearOutput,
    EndScript,
    RewriteJournal,
    SendMessage,
    SendState,
    SpawnScript,
    WriteRecord,
)
from belvedere.agent.journal.journal import Journal
from belvedere.agent.journal.state import JournalState
from belvedere.agent.keeper.control_socket import ControlSocket
from belvedere.agent.keeper.recovery import recover
from belvedere.agent.keeper.script_runner import ScriptRunner
from belvedere.agent.processes.groups import track_processes
from belvedere.agent.processes.script import MS, NEVER, now_ns
from belvedere.agent.processes.spawn import Spawner, base_limit
from belvedere.agent.state_folder import StateFolder, write_log
from belvedere.agent.workdir.workdirs import Workdirs
from belvedere.base.failpoints import reach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from belvedere.agent.journal.effects import Effect, Effects
    from belvedere.agent.journal.state import Message

# An end is sent at once and made durable a little later, unless the server has it by then: a power
# failure within this time costs no more than one just before the end.
SYNC_AFTER = 20 * MS
# A journal that could not be written is rewritten after this time.
REWRITE_AFTER = 5_000 * MS
# The number of effects that are performed before new ends are sent: otherwise, of many scripts that
# are ordered together, all would start before the end of the first one is reported.
BATCH_SIZE = 8
IDLE_EXIT = 60_000 * MS
# Deadlines include suspend time of the machine, a poll does not: so it is never longer than this.
MAX_POLL = 30_000 * MS


ORDER_FIELDS = frozenset(
    ("session", "fence", "job_id", "runas", "arguments", "env", "timeout_ms", "grace_ms")
    + ("daemonize", "os_user", "script", "blobs")
)


CHECK_FIELDS = frozenset(("number", "script", "runas", "arguments", "timeout_ms"))


class Keeper:
    def __init__(
        self, folder: StateFolder, journal: Journal, state: JournalState, rebooted: bool
    ) -> None:
        # In memory only: it must not be part of a snapshot of the disk.
        self._id = os.urandom(12).hex()
        self._journal = journal
        self._journal_state = state
        self._poll = select.poll()
        self._wake = _wake_on_signals()
        self._poll.register(self._wake, select.POLLIN)
        self._socket = ControlSocket(folder, self._poll)
        self._losses = 0
        workdirs = Workdirs(folder.work, rebooted=rebooted)
        spawner = Spawner(state_folder.cookie(folder), base_limit())
        for name in os.listdir(folder.files):
            if not name.isdigit() or int(name) not in state.entries:
                workdirs.remove(f"{folder.files}/{name}")
        self._groups = track_processes(workdirs.cleaner_pids, spawner)
        self._scripts = ScriptRunner(state, folder, workdirs, self._groups, spawner, self._poll)
        self._todo: Effects = []
        self._write_at = NEVER
        self._exit_at = now_ns() + IDLE_EXIT
        self._retiring = False

    def run(self) -> None:
        while not self._is_over():
            for fd, _ in self._poll.poll(self._poll_timeout()):
                self._handle_ready(fd)
            now = now_ns()
            if self._retiring or self._socket.losses != self._losses:
                self._losses = self._socket.losses
                self._take(self._scripts.end_checks())
            if now >= self._scripts.due:
                self._take(self._scripts.tick(now))
            self._settle()
            self._flush()
            if now >= self._write_at:
                self._make_durable()

    def retire(self) -> None:
        """Exit as soon as nothing runs; the next keeper runs the checks."""
        self._retiring = True

    def _poll_timeout(self) -> int | None:
        """Milliseconds to sleep; None if only a message can cause work."""
        due = min(self._scripts.due, self._write_at, self._exit_at)
        if due == NEVER and self._scripts.is_idle():
            return None
        wait = min(due - now_ns(), MAX_POLL)
        return wait // MS + 1 if wait > 0 else 0

    def _handle_ready(self, fd: int) -> None:
        if fd == self._wake:
            os.read(self._wake, 4096)
            self._take(self._scripts.reap())
        elif fd == self._socket.fd:
            for message in self._socket.receive():
                self._take(self._handle(message))
        elif fd == self._socket.listening_fd:
            self._socket.accept()
        else:
            self._scripts.read(fd)

    def _handle(self, message: Message) -> Effects:
        state = self._journal_state
        match message["do"]:
            case "order":
                # Validated before it is accepted: afterwards it must be possible to start it.
                if not ORDER_FIELDS.issubset(message):
                    missing = sorted(ORDER_FIELDS.difference(message))
                    write_log(f"order dropped job={message.get('job_id')} missing={missing}")
                    return []
                return rules.order(state, message)
            case "ack":
                return rules.ack(state, message["fences"])
            case "kept":
                self._scripts.trim_output(message["fence"], message["offset"])
            case "cancel":
                return rules.cancel(state, message["fence"])
            case "stop":
                return rules.stop(state, message["fence"])
            case "refuse":
                return rules.refuse(state, message)
            case "open":
                rules.welcome(state, message["session"])
            case "hello":
                self._scripts.inline = message["inline"]
                effects = rules.prepare_hello(state, message["owner"], os.urandom(12).hex())
                return [*effects, SendState()]
            case "renew":
                return rules.renew(state, os.urandom(12).hex())
            case "check":
                return self._check(message)
            case "uncheck":
                return self._scripts.end(-message["number"], "stopped")
            case "retire":
                self.retire()
        return []

    def _check(self, message: Message) -> Effects:
        """Start the script of a monitor. It is not in the journal: a lost check is repeated."""
        if not CHECK_FIELDS.issubset(message):
            write_log(f"check dropped missing={sorted(CHECK_FIELDS.difference(message))}")
            return []
        defaults = {"env": {}, "grace_ms": 0, "daemonize": False, "blobs": []}
        defaults["os_user"] = message.get("os_user", "")
        return self._scripts.start({**message, **defaults, "fence": -message["number"]})

    def _state_message(self) -> Message:
        state, totals, ages = (
            self._journal_state,
            self._scripts.output_totals(),
            self._scripts.ages(),
        )
        held_output = self._scripts.held_output()
        return {
            "say": "state",
            "version": wire.VERSION,
            "build": __version__,
            "journal_id": state.journal_id,
            "boot_id": state.boot_id,
            "greeting": state.greetings,
            "is_saved": self._journal.is_sound,
            "keeper_id": self._id,
            "highest": state.highest(),
            "acknowledged": state.acknowledged(),
            "containment": self._groups.containment,
            "entries": [
                {
                    "fence": entry.fence,
                    "job_id": entry.job_id,
                    "report": entry.report,
                    "total": totals.get(entry.fence, 0),
                    "age_ms": ages.get(entry.fence),
                    "held": held_output.get(entry.fence, []),
                }
                for entry in state.entries.values()
            ],
        }

    def _take(self, effects: Effects) -> None:
        for effect in effects:
            if type(effect) is WriteRecord:
                self._journal.append(effect.record, sync=effect.sync)
            else:
                self._todo.append(effect)

    def _settle(self) -> None:
        """Write the journal first, then perform effects; these may cause further writes."""
        while True:
            try:
                self._journal.commit(self._journal_state, self._prepare_start)
            except OSError as fault:
                self._refuse_to_start(fault)
            if not self._todo:
                break
            todo, rest, self._todo = self._todo[:BATCH_SIZE], self._todo[BATCH_SIZE:], []
            for effect in todo:
                self._act(effect)
            if rest:
                self._report_ends()
                self._todo = rest
        if self._journal.unsynced:
            if self._write_at == NEVER:
                self._write_at = now_ns() + SYNC_AFTER
        elif self._journal.is_sound:
            # The write of an order also made earlier records durable.
            self._write_at = NEVER

    def _report_ends(self) -> None:
        """Send ends of scripts that ended while others of the same batch were started."""
        self._take(self._scripts.reap())
        self._settle()
        self._flush()

    def _flush(self) -> None:
        """Send queued messages; then do the work that nothing waits for."""
        self._socket.flush()
        self._scripts.tidy()

    def _prepare_start(self) -> None:
        """Prepare the next script while the disk writes the record of its order."""
        for effect in self._todo:
            if type(effect) is SpawnScript:
                self._scripts.prepare(effect.order)
                break

    def _refuse_to_start(self, fault: OSError) -> None:
        self._scripts.discard_prepared()
        text = f"The agent's journal cannot be written: {fault}."
        # An order that waited for a refused one is next; its record is not durable either.
        while spawns := [effect for effect in self._todo if isinstance(effect, SpawnScript)]:
            self._todo = [effect for effect in self._todo if not isinstance(effect, SpawnScript)]
            for effect in spawns:
                self._take(rules.unwritable(self._journal_state, effect.order["fence"], text))
        self._write_at = now_ns() + REWRITE_AFTER

    def _act(self, effect: Effect) -> None:
        match effect:
            case SendMessage():
                if effect.message["say"] == "ended":
                    reach("keeper.ended")
                self._socket.send(effect.message)
            case SendState():
                self._socket.send(self._state_message())
            case SpawnScript():
                reach("keeper.accepted")
                self._take(self._scripts.start(effect.order))
            case ClearOutput():
                self._scripts.clear(effect.fences)
            case EndScript():
                self._take(self._scripts.end(effect.fence, effect.why))
            case RewriteJournal():
                self._make_durable(rewrite=True)

    def _make_durable(self, *, rewrite: bool = False) -> None:
        """Sync earlier writes; rewrite the file after a failed write."""
        self._write_at = NEVER
        try:
            if rewrite or not self._journal.is_sound:
                self._journal.renew(self._journal_state)
            elif self._journal.unsynced and self._journal_state.entries:
                self._journal.sync()
        except OSError as fault:
            write_log(f"journal cannot be written error={fault}")
            self._write_at = now_ns() + REWRITE_AFTER

    def _is_over(self) -> bool:
        """Nothing runs, no agent is connected and nothing is left to report; or it is retired."""
        if self._socket.fd >= 0 or not self._scripts.is_idle():
            self._exit_at = NEVER
            return self._retiring and self._scripts.is_idle()
        now = now_ns()
        if self._exit_at == NEVER:
            self._exit_at = now + IDLE_EXIT
        if now < self._exit_at:
            return self._retiring
        self._exit_at = now + IDLE_EXIT
        return not self._journal_state.entries or self._socket.is_gone()


def _wake_on_signals() -> int:
    """A descriptor that becomes readable when a child ends."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for ignored in (signal.SIGHUP, signal.SIGINT):
        signal.signal(ignored, signal.SIG_IGN)
    return reader


def _lock(folder: StateFolder) -> bool:
    """A keeper that is about to exit may have the lock for a moment longer."""
    for _ in range(50):
        if state_folder.lock(folder, "keeper") is not None:
            return True
        time.sleep(0.02)
    return False


def main() -> int:
    if len(sys.argv) != 3 or sys.argv[1] != "--state":
        print("usage: python -m belvedere.agent.keeper --state DIR")
        return 2
    folder = state_folder.prepare(sys.argv[2])
    if not _lock(folder):
        print(f"Another keeper uses {folder.root}.")
        return 3
    # Scripts inherit the umask; the keeper's own files have explicit modes.
    os.umask(0o022)
    journal = Journal(folder.journal)
    try:
        state, rebooted = recover(folder, journal)
    except (OSError, ValueError) as fault:
        print(f"The keeper cannot start: {fault}")
        return 1
    keeper = Keeper(folder, journal, state, rebooted)
    signal.signal(signal.SIGTERM, lambda *_: keeper.retire())
    print("ready", flush=True)
    # The agent that reads standard output may exit; nothing more is written to it.
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    keeper.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
