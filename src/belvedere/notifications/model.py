"""Notices, rules and channels: which rule sends which notice where. Pure."""

from enum import StrEnum

import msgspec

from belvedere.base.clock import MINUTE, SECOND, Millis
from belvedere.events.kinds import KINDS

WEBHOOK = "Webhook"
MAX_CHANNELS, MAX_VALUES = 20, 200
MAX_WINDOW_S = 3_600
GROUPING_WINDOW: Millis = 10 * SECOND
# Notices that a message contains in full; further ones are only counted.
MAX_NOTICES = 50
MAX_NOTICE_TEXT = 1_000

# No rule can name these: steps that other events report better, and events that notifications
# themselves cause.
INTERNAL_KINDS = frozenset(
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
NOTIFIABLE_KINDS = frozenset(KINDS) - INTERNAL_KINDS


class NoticeSeverity(StrEnum):
    LOW = "LOW"
    HIGH = "HIGH"
    CRITICAL = "CRITICAL"

    @property
    def rank(self) -> int:
        return list(NoticeSeverity).index(self)


class MessageState(StrEnum):
    """Dead: all attempts failed, or the receiver refused it permanently. It can be retried by
    hand."""

    WAITING = "waiting"
    SENT = "sent"
    DEAD = "dead"


class Notice(msgspec.Struct, frozen=True, omit_defaults=True):
    """An event in the words that people read."""

    kind: str
    object: str
    object_id: str
    title: str
    at: Millis
    severity: NoticeSeverity = NoticeSeverity.LOW
    state: str = ""
    text: str = ""
    # Its page in the console.
    link: str = ""


class AddressedNotice(msgspec.Struct, frozen=True):
    """A notice with everything that decides who receives it."""

    customer_id: str
    notice: Notice
    # It needs attention: rules that name no kind send it too.
    is_alert: bool = False
    # Ids that a rule can name: of the object itself, its task, its host, …
    about: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    # Ids of the users in whose inbox it appears.
    people: tuple[str, ...] = ()
    # The inbox shows notices with the same id as one group.
    group_id: str = ""


class QuietHours(msgspec.Struct, frozen=True, omit_defaults=True):
    """Hours of the day in which messages wait; `start` and `end` are minutes since midnight."""

    start: int
    end: int
    zone: str
    # Critical notices are sent all the same.
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
    """A rule decoded for matching: every event is compared with it."""

    id: str
    customer_id: str
    channels: tuple[str, ...]
    kinds: frozenset[str]
    objects: frozenset[str]
    states: frozenset[str]
    tags: frozenset[str]
    rank: int
    quiet: QuietHours | None
    window_ms: Millis

    def names(self, kind: str) -> bool:
        return kind in self.kinds or f"{kind.partition('.')[0]}.*" in self.kinds

    def matches(self, addressed: AddressedNotice) -> bool:
        """Whether this rule sends the notice."""
        notice = addressed.notice
        if not (self.names(notice.kind) if self.kinds else addressed.is_alert):
            return False
        return (
            notice.severity.rank >= self.rank
            and (not self.objects or not self.objects.isdisjoint(addressed.about))
            and (not self.states or notice.state in self.states)
            and (not self.tags or not self.tags.isdisjoint(addressed.tags))
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
        NoticeSeverity(row.severity).rank,
        quiet_hours_of(row),
        row.window_ms,
    )


def quiet_hours_of(row: RuleRow) -> QuietHours | None:
    return None if row.quiet == "{}" else msgspec.json.decode(row.quiet, type=QuietHours)


# Waiting times between attempts, varied by 20 %. After the last one the message is dead.
RETRY_DELAYS: tuple[Millis, ...] = (
    15 * SECOND,
    MINUTE,
    5 * MINUTE,
    15 * MINUTE,
    60 * MINUTE,
    3 * 60 * MINUTE,
    6 * 60 * MINUTE,
)


def retry_delay(tries: int, chance: float) -> Millis | None:
    """How long to wait after `tries` attempts; `chance` (0 to 1) spreads messages that failed
    together. None: there is no further attempt."""
    if tries > len(RETRY_DELAYS):
        return None
    return round(RETRY_DELAYS[tries - 1] * (0.8 + 0.4 * chance))
