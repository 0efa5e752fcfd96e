"""When the periodic work of a server runs."""

import pytest

from belvedere.server.background import loops


@pytest.mark.parametrize("now", [100.25, 102.0, 107.5, 111.999, 112.0])
def test_short_loops_run_together(now: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """An idle server wakes up once for those of two seconds, and with them for those of one."""
    monkeypatch.setattr(loops, "_OFFSET_S", 0.0)
    for every_s in (1.0, 2.0):
        pause_s = loops.pause_s(every_s, now)
        assert (now + pause_s) % every_s == pytest.approx(0)
        # Also after a pass that took nearly the whole interval.
        assert every_s / 4 <= pause_s <= 1.25 * every_s


def test_servers_on_one_machine_run_them_at_different_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    due_at = []
    for offset_s in (0.0, 0.5):
        monkeypatch.setattr(loops, "_OFFSET_S", offset_s)
        due_at.append(100.0 + loops.pause_s(2.0, 100.0))
    assert due_at == [102.0, 101.5]


def test_long_loops_keep_their_distance() -> None:
    assert loops.pause_s(60.0, 100.0) == 60.0
