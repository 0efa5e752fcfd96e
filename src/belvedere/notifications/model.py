"""What people can be told of, and who wants to hear it. Pure."""

from enum import StrEnum

import msgspec

from belvedere.base.clock import MINUTE, SECOND, Millis
from belvedere.events.kinds import KINDS

WEBHOOK = "Webhook"
MAX_CHANNELS, MAX_VALUES = 20, 200
MAX_WINDOW_S = 3_600
WINDOW: Millis = 10 * SECOND
# Of what is gathered into one message, as much is kept one by one.
MAX_NOTICES = 50
MAX_TEXT = 1_000

# No rule can name these: steps that are told better elsewhere, and what telling itself makes.
UNTOLD = frozenset(
    {
        "trigger.fired",
        "workflow.step",
        "job.assigned",
        "job.started",
        "monitor.state",
        "indicator.changed",
        "message.dead",
        "notification.created",
    }
)
TOLD = frozenset(KINDS) - UNTOLD


class Severity(StrEnum):
    LOW = "LOW"
    HIGH = "HIGH"
    CRITICAL = "CRITICAL"

    @property
    def rank(self) -> int:
        return list(Severity).index(self)


class MessageState(StrEnum):
    """Dead: tried as often as we do, or refused for good. Somebody can have it tried again."""

    WAITING = "waiting"
    SENT = "sent"
    DEAD = "dead"


class Notice(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that happened, said in words."""

    kind: str
    object: str
    object_id: str
    title: str
    at: Millis
    severity: Severity = Severity.LOW
    state: str = ""
    text: str = ""
    # The way to it in the console.
    link: str = ""


class Told(msgspec.Struct, frozen=True):
    """A notice with what decides who hears it."""

    customer_id: str
    notice: Notice
    # Something that somebody should look at: told also by rules that name no kind.
    is_alert: bool = False
    # Everything that a rule could name it by: itself, its task, its host, …
    about: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    # User ids of those in whose inbox it belongs.
    people: tuple[str, ...] = ()


class Quiet(msgspec.Struct, frozen=True, omit_defaults=True):
    """Hours of the day in which messages wait; `start` and `end` are minutes of the day."""

    start: int
    end: int
    zone: str
    # What is critical goes out all the same.
    but_critical: bool = True


class ChannelRow(msgspec.Struct):
    """A row of `channels`, in the order of the select."""

    id: str
    customer_id: str
    name: str
    service: str
    shown: str
    box: str
    enabled: int
    version: int
    created_at: Millis
    updated_at: Millis


class RuleRow(msgspec.Struct):
    """A row of `rules`, in the order of the select."""

    id: str
    customer_id: str
    name: str
    enabled: int
    channels: str
    kinds: str
    objects: str
    states: str
    tags: str
    severity: str
    quiet: str
    window_ms: Millis
    version: int
    created_at: Millis
    updated_at: Millis


class Rule(msgspec.Struct, frozen=True):
    """A rule as it is asked, a thousand times a second."""

    id: str
    customer_id: str
    channels: tuple[str, ...]
    kinds: frozenset[str]
    objects: frozenset[str]
    states: frozenset[str]
    tags: frozenset[str]
    rank: int
    quiet: Quiet | None
    window_ms: Millis

    def names(self, kind: str) -> bool:
        return kind in self.kinds or f"{kind.partition('.')[0]}.*" in self.kinds

    def wants(self, told: Told) -> bool:
        """Whether this rule tells it."""
        notice = told.notice
        if not (self.names(notice.kind) if self.kinds else told.is_alert):
            return False
        return (
            notice.severity.rank >= self.rank
            and (not self.objects or not self.objects.isdisjoint(told.about))
            and (not self.states or notice.state in self.states)
            and (not self.tags or not self.tags.isdisjoint(told.tags))
        )


def rule_of(row: RuleRow) -> Rule:
    def texts(column: str) -> frozenset[str]:
        return frozenset(msgspec.json.decode(column, type=list[str]))

    return Rule(
        row.id,
        row.customer_id,
        msgspec.json.decode(row.channels, type=tuple[str, ...]),
        texts(row.kinds),
        texts(row.objects),
        texts(row.states),
        frozenset(tag.lower() for tag in texts(row.tags)),
        Severity(row.severity).rank,
        quiet_of(row),
        row.window_ms,
    )


def quiet_of(row: RuleRow) -> Quiet | None:
    return None if row.quiet == "{}" else msgspec.json.decode(row.quiet, type=Quiet)


# After the first try it is tried again after these, a little more or less; then it is dead.
PAUSES: tuple[Millis, ...] = (
    15 * SECOND,
    MINUTE,
    5 * MINUTE,
    15 * MINUTE,
    60 * MINUTE,
    3 * 60 * MINUTE,
    6 * 60 * MINUTE,
)


def pause(tries: int, chance: float) -> Millis | None:
    """How long to wait after so many tries; `chance` (0 to 1) spreads those that failed together.
    None: there is no next try."""
    if tries > len(PAUSES):
        return None
    return round(PAUSES[tries - 1] * (0.8 + 0.4 * chance))
