"""The server's list of monitors, assembled from the messages of one connection."""

from collections.abc import Callable, Sequence
from typing import Protocol

from belvedere.protocol import MonitorCheck, MonitorConfig


class Checks(Protocol):
    """checker_process.py, or scheduler.py inside the process that it starts."""

    def configure(self, monitors: Sequence[MonitorCheck]) -> None: ...

    def change(self, monitors: Sequence[MonitorCheck], removed: Sequence[str]) -> None: ...


class MonitorList:
    """Applies complete lists and changes in the order of their numbers; requests a complete list if
    something is missing."""

    def __init__(self, checks: Checks, request_list: Callable[[int], None]) -> None:
        self._checks = checks
        self._request_list = request_list
        # The number of the list that the agent has; -1: none on this connection.
        self.number = -1
        # Parts of a list that is being received, its number, and the next part.
        self._monitors: list[MonitorCheck] = []
        self._listed, self._part = -1, 0
        # Whether a list was requested and has not begun to arrive.
        self._is_requested = False

    def take(self, watch: MonitorConfig) -> None:
        if watch.since is None:
            self._take_part(watch)
        elif watch.number > self.number:
            self._take_difference(watch)

    def _take_difference(self, watch: MonitorConfig) -> None:
        if watch.since != self.number:
            self._request_again()
            return
        self.number = watch.number
        self._checks.change(watch.monitors, watch.removed)

    def _take_part(self, watch: MonitorConfig) -> None:
        if watch.part == 0:
            self._monitors, self._listed, self._part = [], watch.number, 0
            self._is_requested = False
        if (watch.number, watch.part) != (self._listed, self._part):
            self._listed = -1
            self._request_again()
            return
        self._monitors += watch.monitors
        self._part += 1
        if not watch.more:
            self._take_list(watch.number)

    def _take_list(self, number: int) -> None:
        monitors, self._monitors, self._listed = self._monitors, [], -1
        if number >= self.number:
            self.number = number
            self._checks.configure(monitors)

    def _request_again(self) -> None:
        if not self._is_requested:
            self._is_requested = True
            self._request_list(self.number)
