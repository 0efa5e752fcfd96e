"""Functions that a package above provides.

A table is written only by its owner, and not read by packages below its owner. A lower package that
needs something from such a table declares a port and calls it like a function. `server/ports.py`
connects every port to a function of the owner; calling a port that is not connected is an error,
never an empty result.
"""

from collections.abc import Callable, Iterator
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Port(Generic[P, R]):
    """A function of one other package."""

    __slots__ = ("_function", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        self._function: Callable[P, R] | None = None

    def connect(self, function: Callable[P, R]) -> None:
        self._function = function

    def __call__(self, *a: P.args, **k: P.kwargs) -> R:
        if self._function is None:
            raise _not_connected(self._name)
        return self._function(*a, **k)


class PortList(Generic[P, R]):
    """The same function of several packages."""

    __slots__ = ("_functions", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        self._functions: tuple[Callable[P, R], ...] = ()

    def connect(self, *functions: Callable[P, R]) -> None:
        self._functions = functions

    def each(self, *a: P.args, **k: P.kwargs) -> Iterator[R]:
        """The results in the order of the functions; each is called when its result is read."""
        if not self._functions:
            raise _not_connected(self._name)
        return (function(*a, **k) for function in self._functions)


def _not_connected(name: str) -> RuntimeError:
    return RuntimeError(f"The port {name} is not connected; call belvedere.server.ports.connect().")
