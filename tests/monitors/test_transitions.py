"""Monitors never report a false state (P11): states and events over any series of results and
missing results."""

from hypothesis import given
from hypothesis import strategies as st

from belvedere.monitors.evaluation import transitions
from belvedere.monitors.evaluation.transitions import MonitorStatus, Transition
from belvedere.monitors.model import MonitorState

INPUTS = (
    "normal",
    "normal",
    "failure",
    "failure",
    "changed",
    "silent",
    "unseen",
    "pause",
    "resume",
)
series = st.lists(st.sampled_from(INPUTS), max_size=60)
MINUTE = 60_000


def step(monitor_status: MonitorStatus, word: str, threshold: int, at: int) -> Transition:
    if word in ("normal", "failure", "changed"):
        if monitor_status.state is MonitorState.PAUSED:
            return monitor_status, ()
        return transitions.after_sample(monitor_status, word, threshold, at)  # type: ignore[arg-type]
    if word == "silent":
        return transitions.after_silence(monitor_status)
    if word == "unseen":
        return transitions.to_unknown(monitor_status), ()
    if word == "pause":
        return transitions.to_paused(monitor_status), ()
    return (
        (transitions.to_resumed(monitor_status), ())
        if monitor_status.state is MonitorState.PAUSED
        else (monitor_status, ())
    )


def events_of(words: list[str], threshold: int = 1, every: int = MINUTE) -> list[str]:
    monitor_status, texts = MonitorStatus(), list[str]()
    for n, word in enumerate(words):
        monitor_status, events = step(monitor_status, word, threshold, n * every)
        texts += events
    return texts


def test_a_failure_needs_as_many_misses_as_the_threshold() -> None:
    words = ["normal", "failure", "failure", "failure", "failure", "normal"]
    assert events_of(words, threshold=3) == ["failure", "recovered"]


def test_two_misses_of_three_are_no_failure() -> None:
    assert events_of(["failure", "failure", "normal"] * 9, threshold=3) == []


def test_a_failure_that_a_dead_host_hid_recovers_only_with_a_good_check() -> None:
    assert events_of(["failure", "unseen", "silent"]) == ["failure", "updates_stopped"]
    assert events_of(["failure", "unseen", "failure"]) == ["failure"]
    assert events_of(["failure", "unseen", "normal"]) == ["failure", "recovered"]
    assert events_of(["failure", "silent", "normal"])[1:] == [
        "updates_stopped",
        "updates_started",
        "recovered",
    ]


@given(series, st.integers(1, 4))
def test_no_data_is_never_up(words: list[str], threshold: int) -> None:
    monitor_status = MonitorStatus()
    is_up = False
    misses = 0
    for n, word in enumerate(words):
        was_paused = monitor_status.state is MonitorState.PAUSED
        monitor_status, _ = step(monitor_status, word, threshold, n * MINUTE)
        if word in ("silent", "unseen", "pause") or (word == "resume" and was_paused):
            is_up, misses = False, 0
        elif not was_paused and word in ("normal", "changed"):
            is_up, misses = True, 0
        elif not was_paused and word == "failure":
            misses += 1
            is_up = is_up and misses < threshold and not monitor_status.is_failing
        assert (monitor_status.state is MonitorState.NORMAL) == is_up, (n, word)


@given(series, st.integers(1, 4))
def test_recovered_follows_a_failure_and_comes_with_a_good_check(
    words: list[str], threshold: int
) -> None:
    monitor_status = MonitorStatus()
    open_failure = is_silent = False
    for n, word in enumerate(words):
        monitor_status, events = step(monitor_status, word, threshold, n * MINUTE)
        for event in events:
            if event == "failure":
                assert word == "failure" and not open_failure
                open_failure = True
            elif event == "recovered":
                assert word in ("normal", "changed") and open_failure
                open_failure = False
            elif event == "updates_stopped":
                assert (
                    word == "silent"
                    and not is_silent
                    or monitor_status.state is MonitorState.UPDATES_STOPPED
                )
                is_silent = True
            elif event == "updates_started":
                assert word in ("normal", "failure", "changed") and is_silent
                is_silent = False


def test_a_flapping_monitor_is_reported_once_and_again_when_it_settles() -> None:
    words = ["failure", "normal"] * 20
    events = events_of(words)
    assert events == ["failure", "recovered"] * 3 + ["flapping"]
    assert events_of([*words, *["normal"] * 15]) == events
    assert events_of([*words, *["failure"] * 15]) == [*events, "failure"]


def test_slow_state_changes_are_reported_one_by_one() -> None:
    assert events_of(["failure", "normal"] * 10, every=10 * MINUTE).count("recovered") == 10
