"""The keeper process: program, script runner, control socket, recovery."""

from collections.abc import Callable


def __getattr__(name: str) -> Callable[..., int]:
    """A running agent of the previous version imports `main` from here after an upgrade."""
    if name == "main":
        from belvedere.agent.keeper.program import main

        return main
    raise AttributeError(name)
