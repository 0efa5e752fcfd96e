"""When the periodic work of a server runs."""

import pytest

from belvedere.server.background.loops import pause_s


@pytest.mark.parametrize("now", [100.25, 107.5, 111.999, 112.0])
def test_loops_that_started_at_different_times_run_together(now: float) -> None:
    """An idle server wakes up once for those of four seconds, and with them for those of two."""
    four_s, two_s = pause_s(4.0, now), pause_s(2.0, now)
    assert 0 < four_s <= 4 and 0 < two_s <= 2
    assert (now + four_s) % 4 == 0
    assert (now + two_s) % 2 == 0
