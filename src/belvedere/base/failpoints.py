"""Named points at which a crash test kills the process; without the variable they do nothing.

`BELVEDERE_FAILPOINT="name"` or `"name:3"` kills the process with SIGKILL when that point is reached
for the first or third time. The count is stored in the environment variable itself.
"""

import os

VARIABLE = "BELVEDERE_FAILPOINT"
# Read once: these points are on the hottest paths and must cost nothing in production.
ARMED = VARIABLE in os.environ
# The number, so that small processes do not have to load the signal module.
SIGKILL = 9


def reach(name: str) -> None:
    if ARMED:
        _kill_if_armed(name)


def _kill_if_armed(name: str) -> None:
    point, _, nth = os.environ.get(VARIABLE, "").partition(":")
    if point != name:
        return
    remaining = int(nth or 1) - 1
    if remaining <= 0:
        os.kill(os.getpid(), SIGKILL)
    os.environ[VARIABLE] = f"{point}:{remaining}"
