"""Scripts on simulated hosts: what they really did is compared with the verdicts."""

import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sim.world import MS, SECOND, Micros

if TYPE_CHECKING:
    from sim.host import Host


@dataclass(frozen=True)
class Behaviour:
    """What a script does when it is started."""

    lasts: Micros
    code: int = 0
    last_line: str = ""
    output: int = 0
    cannot_start: bool = False
    ignores_term: bool = False
    # Hangs in the kernel: not even KILL ends it.
    cannot_die: bool = False


class SimProcess:
    """One started process, from start to end."""

    def __init__(self, host: "Host", fence: int, job_id: str, behaviour: Behaviour) -> None:
        self.host = host
        self.world = host.world
        self.pid = next(self.world.numbers)
        self.fence = fence
        self.job_id = job_id
        self.behaviour = behaviour
        self.started_at = self.world.now
        self.ended_at: Micros | None = None
        self.is_alive = True
        # The wait status that the kernel would report.
        self.status = 0
        # Why it was stopped, if it was.
        self.asked = ""
        self.output = self._text()
        self._read = 0
        # The process that reaps it.
        self.on_end: Callable[[], None] = lambda: None
        if not behaviour.cannot_die:
            self.world.after(behaviour.lasts, self._end, behaviour.code << 8)

    def _text(self) -> bytes:
        lines = b"".join(b"%06d\n" % n for n in range(self.behaviour.output // 7))
        last = self.behaviour.last_line
        return lines + (last.encode() + b"\n" if last else b"")

    def output_so_far(self) -> bytes:
        """Its output so far: half of it early, the rest at its end."""
        ended_itself = self.ended_at is not None and not self.asked
        return self.output if ended_itself else self.output[: len(self.output) // 2]

    def read(self) -> bytes:
        """The content of its pipe since the last read."""
        data = self.output_so_far()[self._read :]
        self._read += len(data)
        return data

    def _end(self, status: int) -> None:
        if self.is_alive:
            self.is_alive = False
            self.ended_at = self.world.now
            self.status = status
            self.world.note("ended", self.fence, status, self.asked)
            self.on_end()

    def send(self, number: int, why: str) -> None:
        if not self.is_alive or number not in (signal.SIGTERM, signal.SIGKILL):
            return
        self.asked = self.asked or why
        if self.behaviour.cannot_die:
            return
        if number == signal.SIGKILL:
            self._end(signal.SIGKILL)
        elif not self.behaviour.ignores_term:
            status = self.world.random.choice((signal.SIGTERM, 0, 3 << 8))
            self.world.after(self.world.long_tail(1, 200 * MS), self._end, int(status))

    def vanish(self) -> None:
        """The machine lost its power."""
        if self.is_alive:
            self.asked = self.asked or "reboot"
            self.is_alive = False
            self.ended_at = self.world.now
            self.world.note("vanished", self.fence)


LINES = (
    ("", None),
    ("", None),
    ("done", None),
    ("ok", "success"),
    ("success", "success"),
    ("normal", "normal"),
    ("failure", "failure"),
    ('{"state":"success","output":["a",1]}', "success"),
    ('{"state":"fail","event_name":"red"}', "failure"),
    ("[1,2,3]", None),
    ("[NaN]", None),
    ("{broken", None),
)


def draw(random: Any) -> Behaviour:
    """Mostly short and simple scripts, some of them long or unusual."""
    lasts = int(random.choice((0.01, 0.2, 2, 20, 90)) * SECOND * random.random()) + 1
    return Behaviour(
        lasts=lasts,
        code=random.choice((0, 0, 0, 0, 1, 3)),
        last_line=random.choice(LINES)[0],
        output=random.choice((0, 0, 10, 100, 3_000)),
        cannot_start=random.random() < 0.04,
        ignores_term=random.random() < 0.15,
        cannot_die=random.random() < 0.01,
    )


def true_state(running: SimProcess) -> str:
    """What the record must say of a script that ended by itself; written independently of the
    product."""
    if running.status != 0:
        return "failure"
    return dict(LINES).get(running.behaviour.last_line) or "normal"
