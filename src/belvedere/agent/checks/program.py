"""The old name of `belvedere.agent.monitoring.checker_main`.

An agent of the previous version that is still running after an upgrade starts it by this name.
"""

from belvedere.agent.monitoring.checker_main import main as main
