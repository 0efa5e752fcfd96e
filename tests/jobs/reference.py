"""A small model of jobs, written from decisions.md and apart from the product's code."""

from dataclasses import dataclass, field

WAITING = ("ready", "onhold", "syncing")
TIMEOUT, GRACE, EXPIRES, RETRY_DELAY = 20_000, 5_000, 120_000, 5_000
UNREACHABLE, LOST, BACKSTOP = 30_000, 60_000, 600_000

# Retries, and whether a lost attempt counts as one.
KINDS = {
    "plain": (0, False),
    "narrow": (0, False),
    "patient": (2, False),
    "stubborn": (1, True),
    "approval": (0, False),
    "dummy": (0, False),
}


@dataclass
class Job:
    id: str
    kind: str
    lifecycle: str
    expires_at: int
    state: str = "in_progress"
    version: int = 1
    fence: int = 0
    journal: str = ""
    attempts: int = 0
    ran: str = "no"
    cancel: bool = False
    unreachable: bool = False
    reconciled: bool = False
    resolved: bool = False
    report_started: bool = False
    # Lost because its agent was silent, and not reported since.
    given_up: bool = False
    not_before: int = 0
    deadline: int = 0
    old_fences: list[int] = field(default_factory=list)

    @property
    def is_lost(self) -> bool:
        return (self.lifecycle, self.state) == ("terminated", "lost")

    @property
    def is_over(self) -> bool:
        return self.lifecycle in ("finished", "canceled", "terminated", "expired")

    def move(self, lifecycle: str, state: str) -> None:
        self.lifecycle, self.state = lifecycle, state
        self.version += 1

    def knows_more(self, ran: str) -> None:
        """Knowledge never gets lost: no, then maybe, then yes."""
        order = ("no", "maybe", "yes")
        self.ran = max(self.ran, ran, key=order.index)

    # Reports of its agent

    def claim(self, fence: int, journal: str, now: int) -> None:
        self.move("assigned", "in_progress")
        self.fence, self.journal, self.report_started = fence, journal, False
        self.attempts += 1
        self.deadline = now + TIMEOUT + GRACE

    def start(self, now: int) -> None:
        if self.lifecycle == "assigned" and not self.report_started:
            self.report_started = True
            self.deadline = now + TIMEOUT + GRACE
            self.version += 1

    def report(self, ending: str, code: int, now: int) -> None:
        """The end of its current attempt."""
        self.given_up = False
        verdict = {
            "exit": ("finished", "normal" if code == 0 else "failure"),
            "timeout": ("terminated", "timeout"),
            "canceled": ("terminated", "canceled"),
            "error": ("finished", "error"),
            "unknown": ("terminated", "lost"),
        }[ending]
        if self.is_lost:
            self._reconcile(ending, verdict)
        elif self.lifecycle == "assigned":
            self._end(ending, verdict, now)

    def _reconcile(self, ending: str, verdict: tuple[str, str]) -> None:
        if ending == "unknown":
            return
        self.move("finished", verdict[1])
        self.reconciled = True
        if self._proves_run(ending):
            self.ran = "yes"
        elif self.attempts == 1:
            self.ran = "no"

    def _proves_run(self, ending: str) -> bool:
        """A reported start counts more than an end that excludes it."""
        return ending != "error" or self.report_started

    def _end(self, ending: str, verdict: tuple[str, str], now: int) -> None:
        times, on_lost = KINDS[self.kind]
        if ending == "unknown":
            self.knows_more("maybe")
        elif self._proves_run(ending):
            self.knows_more("yes")
        bad = on_lost if ending == "unknown" else verdict[1] in ("failure", "timeout", "error")
        self.unreachable = self.unreachable and ending == "unknown"
        if bad and not self.cancel and self.attempts <= times:
            self.move("ready", "in_progress")
            self.not_before = now + RETRY_DELAY
            self.expires_at = max(self.expires_at, self.not_before + EXPIRES)
            self.unreachable = False
            self.old_fences.append(self.fence)
        else:
            self.move(*verdict)

    def meet(self, journal: str, is_held: bool, now: int) -> None:
        """Its agent reconnected with this journal, which has the attempt or not."""
        if self.is_lost and self.given_up and journal == self.journal and not is_held:
            self._disprove()
        if self.lifecycle != "assigned":
            return
        if is_held:
            if self.unreachable:
                self.unreachable = False
                self.version += 1
        elif journal != self.journal or self.report_started:
            self.report("unknown", 0, now)
        else:
            self.move(*(("canceled", "canceled") if self.cancel else ("ready", "in_progress")))
            self.attempts -= 1
            self.unreachable = False
            self.old_fences.append(self.fence)

    def _disprove(self) -> None:
        """The journal of that time would contain it: the agent never had it."""
        if self.attempts == 1 and not self.report_started and self.ran == "maybe":
            self.ran = "no"
            self.version += 1

    # Actions of people

    def may_cancel(self) -> bool:
        return self.lifecycle in (*WAITING, "assigned")

    def cancel_it(self) -> None:
        if self.lifecycle in WAITING:
            self.move("canceled", "canceled")
        elif not self.cancel:
            self.cancel = True
            self.version += 1

    def may_resolve(self) -> bool:
        return self.is_lost or (self.lifecycle == "assigned" and self.unreachable)

    def resolve(self, outcome: str) -> None:
        if not self.is_lost:
            self.knows_more("maybe")
        self.move("finished", outcome)
        self.resolved, self.unreachable = True, False

    # Effects of time

    def pass_time(self, now: int, is_silent: bool) -> None:
        if self.lifecycle == "assigned" and is_silent and not self.unreachable:
            self.unreachable = True
            self.version += 1
        if self.lifecycle == "assigned" and not is_silent and self.unreachable:
            self.unreachable = False
            self.version += 1
        late = now - self.deadline
        patience = LOST if is_silent else LOST + BACKSTOP + TIMEOUT
        if self.lifecycle == "assigned" and late > patience:
            self.report("unknown", 0, now)
            self.given_up = True
        if self.lifecycle in WAITING and self.expires_at <= now:
            by_default = self.kind == "approval"
            self.move(*(("finished", "failure") if by_default else ("expired", "canceled")))
