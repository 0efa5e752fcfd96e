"""The keeper: the small process that holds the scripts and the journal and outlives the agent.

One thread, one poll. A turn reads everything that waits (the agent's messages, children that
ended, output), lets the rules decide, writes the journal once for all of it, and only then acts.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time

from belvedere import __version__
from belvedere.agent import state_folder as folders
from belvedere.agent import wire
from belvedere.agent.journal import rules
from belvedere.agent.journal.effects import Clear, End, Renew, Spawn, Tell, TellState, Write
from belvedere.agent.journal.journal import Journal
from belvedere.agent.journal.state import Ledger
from belvedere.agent.keeper.control_socket import Door, complain
from belvedere.agent.keeper.recovery import recover
from belvedere.agent.keeper.script_runner import Scripts
from belvedere.agent.processes.groups import crowd
from belvedere.agent.processes.script import MS, NEVER, now_ns
from belvedere.agent.processes.spawn import Spawner, base_limit
from belvedere.agent.state_folder import Folder
from belvedere.agent.workdir.workdirs import Workplaces
from belvedere.base.failpoints import reach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from belvedere.agent.journal.effects import Step, Steps
    from belvedere.agent.journal.state import Message

# An end is told at once and made durable a little later, unless the server has it by then: until
# it does, a power cut within this time costs no more than one a moment earlier would have.
SYNC_AFTER = 20 * MS
# A journal that could not be written is tried again this often.
MEND_AFTER = 5_000 * MS
# So many steps are taken before those that ended meanwhile are told: many scripts that are ordered
# together would otherwise all be started before the end of the first is heard of.
AT_ONCE = 8
IDLE_EXIT = 60_000 * MS
# Deadlines count sleep of the machine, a poll does not: so it is never longer than this.
LONGEST_POLL = 30_000 * MS


ORDER = frozenset(
    ("session", "fence", "job_id", "runas", "arguments", "env", "timeout_ms", "grace_ms")
    + ("daemonize", "os_user", "script", "blobs")
)


CHECK = frozenset(("number", "script", "runas", "arguments", "timeout_ms"))


class Keeper:
    def __init__(self, folder: Folder, journal: Journal, ledger: Ledger, rebooted: bool) -> None:
        # In memory only: it must not survive in a snapshot of the disk.
        self._id = os.urandom(12).hex()
        self._journal = journal
        self._ledger = ledger
        self._poll = select.poll()
        self._wake = _wake_on_signals()
        self._poll.register(self._wake, select.POLLIN)
        self._door = Door(folder, self._poll)
        self._losses = 0
        workplaces = Workplaces(folder.work, rebooted=rebooted)
        spawner = Spawner(folders.cookie(folder), base_limit())
        for name in os.listdir(folder.files):
            if not name.isdigit() or int(name) not in ledger.entries:
                workplaces.remove(f"{folder.files}/{name}")
        self._crowd = crowd(workplaces.brooms, spawner)
        self._scripts = Scripts(ledger, folder, workplaces, self._crowd, spawner, self._poll)
        self._todo: Steps = []
        self._write_at = NEVER
        self._exit_at = now_ns() + IDLE_EXIT
        self._retiring = False

    def run(self) -> None:
        while not self._is_over():
            for fd, _ in self._poll.poll(self._patience()):
                self._notice(fd)
            now = now_ns()
            if self._retiring or self._door.losses != self._losses:
                self._losses = self._door.losses
                self._take(self._scripts.end_checks())
            if now >= self._scripts.due:
                self._take(self._scripts.tick(now))
            self._settle()
            self._tell()
            if now >= self._write_at:
                self._make_durable()

    def retire(self) -> None:
        """Go as soon as nothing runs; checks are made by the next one."""
        self._retiring = True

    def _patience(self) -> int | None:
        """Milliseconds to sleep; None when only a message can bring work."""
        due = min(self._scripts.due, self._write_at, self._exit_at)
        if due == NEVER and self._scripts.is_idle():
            return None
        wait = min(due - now_ns(), LONGEST_POLL)
        return wait // MS + 1 if wait > 0 else 0

    def _notice(self, fd: int) -> None:
        if fd == self._wake:
            os.read(self._wake, 4096)
            self._take(self._scripts.reap())
        elif fd == self._door.fd:
            for message in self._door.receive():
                self._take(self._hear(message))
        elif fd == self._door.listening_fd:
            self._door.accept()
        else:
            self._scripts.read(fd)

    def _hear(self, message: Message) -> Steps:
        ledger = self._ledger
        match message["do"]:
            case "order":
                # Checked before it is accepted: after that it must be possible to start it.
                if not ORDER.issubset(message):
                    complain(f"An order without {sorted(ORDER.difference(message))}; dropped.")
                    return []
                return rules.order(ledger, message)
            case "ack":
                return rules.ack(ledger, message["fences"])
            case "kept":
                self._scripts.kept(message["fence"], message["offset"])
            case "cancel":
                return rules.cancel(ledger, message["fence"])
            case "stop":
                return rules.stop(ledger, message["fence"])
            case "refuse":
                return rules.refuse(ledger, message)
            case "open":
                rules.welcome(ledger, message["session"])
            case "hello":
                self._scripts.inline = message["inline"]
                steps = rules.greet(ledger, message["owner"], os.urandom(12).hex())
                return [*steps, TellState()]
            case "renew":
                return rules.renew(ledger, os.urandom(12).hex())
            case "check":
                return self._check(message)
            case "uncheck":
                return self._scripts.end(-message["number"], "stopped")
            case "retire":
                self.retire()
        return []

    def _check(self, message: Message) -> Steps:
        """A monitor's script. It is not in the journal: one that is lost is made again anyway."""
        if not CHECK.issubset(message):
            complain(f"A check without {sorted(CHECK.difference(message))}; dropped.")
            return []
        more = {"env": {}, "grace_ms": 0, "daemonize": False, "blobs": []}
        more["os_user"] = message.get("os_user", "")
        return self._scripts.start({**message, **more, "fence": -message["number"]})

    def _state(self) -> Message:
        ledger, shown, ages = self._ledger, self._scripts.shown(), self._scripts.ages()
        held = self._scripts.held()
        return {
            "say": "state",
            "version": wire.VERSION,
            "build": __version__,
            "journal_id": ledger.journal_id,
            "boot_id": ledger.boot_id,
            "greeting": ledger.greetings,
            "is_saved": self._journal.is_sound,
            "keeper_id": self._id,
            "highest": ledger.highest(),
            "containment": self._crowd.containment,
            "entries": [
                {
                    "fence": entry.fence,
                    "job_id": entry.job_id,
                    "report": entry.report,
                    "total": shown.get(entry.fence, 0),
                    "age_ms": ages.get(entry.fence),
                    "held": held.get(entry.fence, []),
                }
                for entry in ledger.entries.values()
            ],
        }

    def _take(self, steps: Steps) -> None:
        for step in steps:
            if type(step) is Write:
                self._journal.append(step.record, sync=step.sync)
            else:
                self._todo.append(step)

    def _settle(self) -> None:
        """Write first, act then; acting may give more to write."""
        while True:
            try:
                self._journal.commit(self._ledger)
            except OSError as fault:
                self._refuse_to_start(fault)
            if not self._todo:
                break
            todo, rest, self._todo = self._todo[:AT_ONCE], self._todo[AT_ONCE:], []
            for step in todo:
                self._act(step)
            if rest:
                self._tell_ends()
                self._todo = rest
        if self._journal.unsynced:
            if self._write_at == NEVER:
                self._write_at = now_ns() + SYNC_AFTER
        elif self._journal.is_sound:
            # An order made durable what was written before it, too.
            self._write_at = NEVER

    def _tell_ends(self) -> None:
        """Of scripts that ended while others of the same turn began: before yet others begin."""
        self._take(self._scripts.reap())
        self._settle()
        self._tell()

    def _tell(self) -> None:
        """Everything that was said leaves; then comes what nobody waits for."""
        self._door.flush()
        self._scripts.tidy()

    def _refuse_to_start(self, fault: OSError) -> None:
        spawns = [step for step in self._todo if isinstance(step, Spawn)]
        self._todo = [step for step in self._todo if not isinstance(step, Spawn)]
        text = f"The journal of the agent cannot be written: {fault}."
        for step in spawns:
            self._take(rules.unwritable(self._ledger, step.order["fence"], text))
        self._write_at = now_ns() + MEND_AFTER

    def _act(self, step: Step) -> None:
        match step:
            case Tell():
                if step.message["say"] == "ended":
                    reach("keeper.ended")
                self._door.send(step.message)
            case TellState():
                self._door.send(self._state())
            case Spawn():
                reach("keeper.accepted")
                self._take(self._scripts.start(step.order))
            case Clear():
                self._scripts.clear(step.fences)
            case End():
                self._take(self._scripts.end(step.fence, step.why))
            case Renew():
                self._make_durable(afresh=True)

    def _make_durable(self, *, afresh: bool = False) -> None:
        """What was written in passing, now for good; and mend what could not be written."""
        self._write_at = NEVER
        try:
            if afresh or not self._journal.is_sound:
                self._journal.renew(self._ledger)
            elif self._journal.unsynced and self._ledger.entries:
                self._journal.sync()
        except OSError as fault:
            complain(f"The journal cannot be written: {fault}")
            self._write_at = now_ns() + MEND_AFTER

    def _is_over(self) -> bool:
        """Nothing runs, nobody listens and nothing is left to report; or a newer keeper waits."""
        if self._door.fd >= 0 or not self._scripts.is_idle():
            self._exit_at = NEVER
            return self._retiring and self._scripts.is_idle()
        now = now_ns()
        if self._exit_at == NEVER:
            self._exit_at = now + IDLE_EXIT
        if now < self._exit_at:
            return self._retiring
        self._exit_at = now + IDLE_EXIT
        return not self._ledger.entries or self._door.is_gone()


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


def _hold(folder: Folder) -> bool:
    """A keeper that is about to end may hold the folder for a moment longer."""
    for _ in range(50):
        if folders.lock(folder, "keeper") is not None:
            return True
        time.sleep(0.02)
    return False


def main() -> int:
    if len(sys.argv) != 3 or sys.argv[1] != "--state":
        print("usage: python -m belvedere.agent.keeper --state DIR")
        return 2
    folder = folders.prepare(sys.argv[2])
    if not _hold(folder):
        print(f"Another keeper holds {folder.root}.")
        return 3
    # Scripts inherit it; our own files are made with modes of their own.
    os.umask(0o022)
    journal = Journal(folder.journal)
    try:
        ledger, rebooted = recover(folder, journal)
    except (OSError, ValueError) as fault:
        print(f"The keeper cannot start: {fault}")
        return 1
    keeper = Keeper(folder, journal, ledger, rebooted)
    signal.signal(signal.SIGTERM, lambda *_: keeper.retire())
    print("ready", flush=True)
    # The agent that reads our words may go; nothing is written there from now on.
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    keeper.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
