"""Operations that wait to share one transaction."""

from collections.abc import Callable
from typing import Any


class PendingWrite:
    """A queued plain operation, or one item of a batch operation."""

    __slots__ = ("args", "error", "future", "is_batched", "kwargs", "result", "operation")

    def __init__(
        self, operation: Callable[..., Any], args: Any, kwargs: Any, is_batched: bool, future: Any
    ) -> None:
        self.operation = operation
        self.args = args
        self.kwargs = kwargs
        self.is_batched = is_batched
        self.future = future
        self.result: Any = None
        self.error: BaseException | None = None

    def set_outcome(self, result: Any, error: BaseException | None) -> None:
        """Set the outcome. The operation may run again; the last outcome counts."""
        self.result = result
        self.error = error


def group_writes(batch: list[PendingWrite]) -> list[list[PendingWrite]]:
    """Plain operations one by one, then the items of each batch operation together."""
    plain = [[pending] for pending in batch if not pending.is_batched]
    sets: dict[Any, list[PendingWrite]] = {}
    for pending in batch:
        if pending.is_batched:
            sets.setdefault(pending.operation, []).append(pending)
    return [*plain, *sets.values()]
