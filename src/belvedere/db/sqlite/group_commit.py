"""Verbs that wait to share one transaction."""

from collections.abc import Callable
from typing import Any


class Waiting:
    """A verb in the queue: a plain one, or one item of a set-based one."""

    __slots__ = ("args", "error", "future", "is_set", "kwargs", "result", "verb")

    def __init__(
        self, verb: Callable[..., Any], args: Any, kwargs: Any, is_set: bool, future: Any
    ) -> None:
        self.verb = verb
        self.args = args
        self.kwargs = kwargs
        self.is_set = is_set
        self.future = future
        self.result: Any = None
        self.error: BaseException | None = None

    def answer(self, result: Any, error: BaseException | None) -> None:
        """For now: it may be run again, and the last answer counts."""
        self.result = result
        self.error = error


def gathered(batch: list[Waiting]) -> list[list[Waiting]]:
    """Plain verbs one by one, then the items of each set-based one together."""
    plain = [[waiting] for waiting in batch if not waiting.is_set]
    sets: dict[Any, list[Waiting]] = {}
    for waiting in batch:
        if waiting.is_set:
            sets.setdefault(waiting.verb, []).append(waiting)
    return [*plain, *sets.values()]
