"""The state of the journal in memory: accepted fences and the progress of each.

Plain classes instead of dataclasses in every file that the keeper loads: the dataclasses module
alone would cost it two megabytes.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Report = dict[str, Any]
    Record = list[Any]
    # A message of the agent: the fields of protocol.Order and the path of its script.
    Message = dict[str, Any]

# The number of accepted fences that are stored one by one. Fences only grow, so everything below
# the oldest of them counts as known: memory is bounded and no fence is accepted twice.
MAX_REMEMBERED = 8_192
# The number of them that a hello names. A database that was restored lacks the end of a recent one.
MAX_ACKNOWLEDGED = 1_000


class JournalEntry:
    """One accepted fence that the server has not acknowledged yet; live until it has a report."""

    __slots__ = ("boot_id", "fence", "job_id", "report", "waiting", "requested_end")

    def __init__(self, fence: int, job_id: str, boot_id: str) -> None:
        self.fence = fence
        self.job_id = job_id
        self.boot_id = boot_id
        self.report: Report | None = None
        # Accepted, but an older attempt of the same job must end first.
        self.waiting: Message | None = None
        # What the server requested since: canceled, stopped, or nothing.
        self.requested_end = ""


class JournalState:
    __slots__ = (
        "boot_id",
        "entries",
        "accepted_up_to",
        "greetings",
        "journal_id",
        "owner",
        "accepted_fences",
        "session",
    )

    def __init__(self, journal_id: str, boot_id: str = "", owner: str = "") -> None:
        self.journal_id = journal_id
        self.boot_id = boot_id
        # The host record that this journal belongs to; fences of another host do not apply.
        self.owner = owner
        # The number of the open session; zero without one, and then no order is accepted.
        self.session = 0
        # How many times an agent has sent Hello with this journal.
        self.greetings = 0
        self.entries: dict[int, JournalEntry] = {}
        self.accepted_fences: set[int] = set()
        # All fences up to this one count as accepted; they are no longer in the set.
        self.accepted_up_to = 0

    def knows(self, fence: int) -> bool:
        return (
            fence <= self.accepted_up_to or fence in self.accepted_fences or fence in self.entries
        )

    def remember(self, fence: int) -> None:
        self.accepted_fences.add(fence)
        if len(self.accepted_fences) > MAX_REMEMBERED:
            ordered = sorted(self.accepted_fences)
            half = len(ordered) // 2
            self.accepted_up_to = ordered[half - 1]
            self.accepted_fences = set(ordered[half:])

    def highest(self) -> int:
        return max(self.accepted_fences, default=self.accepted_up_to)

    def acknowledged(self) -> list[int]:
        """The newest accepted fences that have no entry any more."""
        return sorted(self.accepted_fences.difference(self.entries))[-MAX_ACKNOWLEDGED:]

    def live(self) -> list[JournalEntry]:
        return [entry for entry in self.entries.values() if entry.report is None]


def replay(state: JournalState, record: Record) -> None:
    """Apply one journal record; unknown kinds of later versions are skipped."""
    kind = record[0]
    if kind == "accepted":
        fence = record[1]
        state.remember(fence)
        state.entries[fence] = JournalEntry(fence, record[2], state.boot_id)
    elif kind == "ended":
        if record[1] in state.entries:
            state.entries[record[1]].report = record[2]
    elif kind == "acked":
        for fence in record[1]:
            state.entries.pop(fence, None)
    elif kind == "boot":
        state.boot_id = record[1]
    elif kind == "greeted":
        state.greetings = record[1]
    elif kind == "known":
        state.accepted_up_to = max(state.accepted_up_to, record[1])
        state.accepted_fences.update(record[2])


def records(state: JournalState) -> list[Record]:
    """The shortest journal (after its head) that replays to this state."""
    journal_records: list[Record] = [
        ["boot", state.boot_id],
        ["greeted", state.greetings],
        ["known", state.accepted_up_to, sorted(state.accepted_fences)],
    ]
    for entry in state.entries.values():
        journal_records.append(["accepted", entry.fence, entry.job_id])
        if entry.report is not None:
            journal_records.append(["ended", entry.fence, entry.report])
    return journal_records
