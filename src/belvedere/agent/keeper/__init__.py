"""The keeper process: program, script runner, control socket, recovery."""

from collections.abc import Callable


def __getattr__(name: str) -> Callable[..., int]:
    """`main` is what an agent of the previous version, still running after an upgrade, imports."""
    if name == "main":
        from belvedere.agent.keeper.program import main

        return main
    raise AttributeError(name)
