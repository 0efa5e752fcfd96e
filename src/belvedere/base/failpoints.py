"""Named points at which a crash test lets the process die; without the variable they do nothing.

`BELVEDERE_FAILPOINT="name"` or `"name:3"` kills the process with SIGKILL when that point is reached
for the first or third time. The count is kept in the environment itself: no module holds it.
"""

import os

VARIABLE = "BELVEDERE_FAILPOINT"
# Read once: in service these points lie on the hottest paths and must cost nothing.
ARMED = VARIABLE in os.environ
# Its number, so that small processes need not load the signal module for it.
SIGKILL = 9


def reach(name: str) -> None:
    if ARMED:
        _die_if_wanted(name)


def _die_if_wanted(name: str) -> None:
    point, _, nth = os.environ.get(VARIABLE, "").partition(":")
    if point != name:
        return
    left = int(nth or 1) - 1
    if left <= 0:
        os.kill(os.getpid(), SIGKILL)
    os.environ[VARIABLE] = f"{point}:{left}"
