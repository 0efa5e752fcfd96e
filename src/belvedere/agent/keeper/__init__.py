"""The keeper: the process that owns the scripts and the journal.

Start with `program` (one thread, one poll). `script_runner` starts and ends scripts,
`control_socket` talks to the agent, `recovery` cleans up at the start. What it decides is in
`agent.journal.rules`, as pure functions. Nothing imports this package: the agent starts it as a
process and uses `agent.keeper_client`.
"""

from collections.abc import Callable


def __getattr__(name: str) -> Callable[..., int]:
    """A running agent of the previous version imports `main` from here after an upgrade."""
    if name == "main":
        from belvedere.agent.keeper.program import main

        return main
    raise AttributeError(name)
