"""The old name of `belvedere.agent.workdir.removal`.

An agent of the previous version that is still running after an upgrade starts it by this name.
"""

from belvedere.agent.workdir.removal import main as main
