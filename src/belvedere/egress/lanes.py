"""Lanes of outgoing calls. Sign-in, mails of the installation, channels, test messages and checks
of URLs have one each, so that none of them waits for another."""

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum

from belvedere.base.fair_queue import has_room


class LaneKind(Enum):
    """The lanes, each with its own limits."""

    SIGN_IN = "sign-in"
    MAIL = "mail"
    CHANNEL = "channel"
    TEST = "test"
    CHECK = "check"

    @property
    def places(self) -> int:
        """How many calls may run at the same time."""
        return _LIMITS[self][0]

    @property
    def share(self) -> int:
        """How many calls of one organization may run at the same time."""
        return _LIMITS[self][1]

    @property
    def queue(self) -> int:
        """How many calls of one organization may wait."""
        return _LIMITS[self][2]

    @property
    def reserved(self) -> int:
        """Places that only an organization without a running call may take."""
        return _LIMITS[self][3]


# Receivers of sign-in and channels belong to the organizations and may be slow on purpose. Two
# organizations with their full share leave a full share to a third one, and three leave a place
# to each of two others.
_LIMITS = {
    LaneKind.SIGN_IN: (8, 2, 20, 2),
    LaneKind.MAIL: (2, 1, 20, 0),
    LaneKind.CHANNEL: (8, 2, 20, 2),
    # Users start these at any rate, without the outbox.
    LaneKind.TEST: (4, 1, 20, 0),
    LaneKind.CHECK: (2, 1, 20, 0),
}


@dataclass(slots=True)
class LaneUsage:
    """What this server sends in one lane at the moment, and how much more it may claim."""

    kind: LaneKind
    sending: Counter[str] = field(default_factory=Counter)
    # The organization that was served last: the next round starts after it.
    last: str = ""

    @property
    def free(self) -> int:
        return max(0, self.kind.places - self.sending.total())

    @property
    def share(self) -> int:
        return self.kind.share

    def has_room(self, customer_id: str) -> bool:
        return has_room(self.kind, self.sending, customer_id)

    def copy(self) -> "LaneUsage":
        """For planning: what would be sent is counted here and not yet in the lane itself."""
        return LaneUsage(self.kind, Counter(self.sending), self.last)

    def begin(self, customer_id: str) -> None:
        self.sending[customer_id] += 1
        self.last = customer_id

    def end(self, customer_id: str) -> None:
        self.sending[customer_id] -= 1
