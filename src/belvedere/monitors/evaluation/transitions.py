"""Which state follows from what was seen, or not seen. Plain rules over values.

No data is never good news: only a good check makes a monitor normal, and only a good check after a
failure that was told makes it recovered.
"""

from typing import Literal

import msgspec

from belvedere.base.clock import MINUTE, Millis
from belvedere.monitors.model import State

Outcome = Literal["normal", "failure", "changed"]
FAILURE, RECOVERED = "failure", "recovered"
STOPPED, STARTED = "updates_stopped", "updates_started"
CHANGED, FLAPPING = "changed", "flapping"
EVENT_NAMES = (FAILURE, RECOVERED, STOPPED, STARTED, CHANGED, FLAPPING)

# So many turns between good and bad within this time are too many to be told one by one ...
MAX_FLIPS = 6
FLIP_SPAN: Millis = 30 * MINUTE
# ... until it has kept still for so long.
CALM: Millis = 10 * MINUTE


class Seen(msgspec.Struct, frozen=True):
    """What is known of a monitor. `is_failing`: people were told of a failure, not of its end."""

    state: State = State.UNKNOWN
    fails: int = 0
    is_failing: bool = False
    flips: tuple[Millis, ...] = ()
    is_flapping: bool = False


Move = tuple[Seen, tuple[str, ...]]
replace = msgspec.structs.replace


def sampled(seen: Seen, outcome: Outcome, threshold: int, at: Millis) -> Move:
    """A check was made, with this outcome."""
    told = (STARTED,) if seen.state is State.UPDATES_STOPPED else ()
    if outcome == "failure":
        after = _missed(seen, threshold)
    else:
        after = replace(seen, state=State.NORMAL, fails=0)
    after, verdict = _tell(_note_flip(seen, after, at), at)
    return after, (*told, *verdict, *((CHANGED,) if outcome == "changed" else ()))


def _missed(seen: Seen, threshold: int) -> Seen:
    fails = seen.fails + 1
    if fails >= threshold or seen.is_failing:
        return replace(seen, state=State.FAILURE, fails=fails)
    # A miss below the threshold changes nothing, except that data flows again.
    state = State.UNKNOWN if seen.state is not State.NORMAL else State.NORMAL
    return replace(seen, state=state, fails=fails)


def _note_flip(before: Seen, after: Seen, at: Millis) -> Seen:
    recent = tuple(one for one in after.flips if at - one < FLIP_SPAN)
    if {before.state, after.state} == {State.NORMAL, State.FAILURE}:
        recent = (*recent, at)[-MAX_FLIPS:]
    return replace(after, flips=recent)


def _tell(seen: Seen, at: Millis) -> Move:
    """What people hear: every turn, or, of one that turns too often, only that it does."""
    if seen.is_flapping and (not seen.flips or at - seen.flips[-1] >= CALM):
        seen = replace(seen, is_flapping=False, flips=())
    elif not seen.is_flapping and len(seen.flips) >= MAX_FLIPS:
        return replace(seen, is_flapping=True), (FLAPPING,)
    if seen.is_flapping:
        return seen, ()
    if seen.state is State.FAILURE and not seen.is_failing:
        return replace(seen, is_failing=True), (FAILURE,)
    if seen.state is State.NORMAL and seen.is_failing:
        return replace(seen, is_failing=False), (RECOVERED,)
    return seen, ()


def silent(seen: Seen) -> Move:
    """The agent is there, the check says nothing."""
    if seen.state in (State.UPDATES_STOPPED, State.PAUSED):
        return seen, ()
    return replace(seen, state=State.UPDATES_STOPPED, fails=0), (STOPPED,)


def unseen(seen: Seen) -> Seen:
    """Its host is down, or the check is another one: nobody knows. Nobody is told either."""
    return seen if seen.state is State.PAUSED else replace(seen, state=State.UNKNOWN, fails=0)


def excused(seen: Seen) -> Seen:
    """A miss while maintenance goes on: it counts for nothing, and is no good news either."""
    return replace(seen, state=State.UNKNOWN, fails=0) if seen.state is not State.FAILURE else seen


def paused(seen: Seen) -> Seen:
    return replace(seen, state=State.PAUSED, fails=0)


def resumed(seen: Seen) -> Seen:
    return replace(seen, state=State.UNKNOWN, fails=0)
