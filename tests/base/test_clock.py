"""Times as the interface writes them."""

from datetime import UTC, datetime, timedelta

from hypothesis import example, given
from hypothesis import strategies as st

from belvedere.base.clock import DAY, duration_text, iso, iso_or_none, parse_iso

# From the year 1 to the year 9999.
MOMENTS = st.integers(-719_162 * DAY, 2_932_897 * DAY - 1)


def test_a_time_is_formatted_as_iso() -> None:
    assert iso(0) == "1970-01-01T00:00:00.000Z"
    assert iso_or_none(None) is None and iso_or_none(1) == "1970-01-01T00:00:00.001Z"


def test_a_duration_has_the_largest_exact_unit() -> None:
    durations = (0, 1, 1_500, 90_000, 7_200_000, 36 * 3_600_000, 30 * DAY)
    assert list(map(duration_text, durations)) == ["0s", "1ms", "1500ms", "90s", "2h", "36h", "30d"]


@given(MOMENTS)
@example(-1)
@example(-1_000)
@example(-719_162 * DAY)
@example(2_932_897 * DAY - 1)
def test_times_are_formatted_as_by_the_library(at: int) -> None:
    moment = datetime(1970, 1, 1) + timedelta(milliseconds=at)
    assert iso(at) == moment.isoformat(timespec="milliseconds") + "Z"
    # A repeated conversion gives the same text, and the next millisecond gives another.
    assert iso(at) == iso(at) != iso(at + 1)


@given(st.integers(0, 4_102_444_800_000))
def test_a_formatted_time_is_parsed_again(at: int) -> None:
    assert parse_iso(iso(at)) == at
    assert parse_iso(iso(at).removesuffix("Z")) == at
    assert datetime.fromisoformat(iso(at)).tzinfo == UTC
