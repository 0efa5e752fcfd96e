"""Reading a log in pieces gives the same lines as reading all of it."""

import hypothesis
import hypothesis.strategies as st

from belvedere.jobs.output.log_lines import MAX_HIT_BYTES, LogSearch, _read
from belvedere.jobs.output.log_store import Chunk


def chunks(data: bytes, cuts: list[int]) -> list[Chunk]:
    places = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    return [
        Chunk(a, data[:a].count(b"\n"), b - a, data[a:b])
        for a, b in zip(places, places[1:], strict=False)
    ]


def search(data: bytes, cuts: list[int], expected: str) -> list[tuple[int, int, str]]:
    looking = LogSearch(expected, 1_000)
    for chunk in chunks(data, cuts):
        looking.feed(chunk)
    looking.end_line()
    assert looking.hits.matches == len(looking.hits.lines)
    return [(hit.line, hit.offset, hit.text) for hit in looking.hits.lines]


def test_search_ignores_case() -> None:
    data = b"one\ntwo\nthree\nTwo and two"
    assert search(data, [5, 9], "TWO") == [(2, 4, "two"), (4, 14, "Two and two")]


@hypothesis.given(
    st.text(alphabet="abA\n\u00e4\u00c4", max_size=60),
    st.lists(st.integers(0, 90), max_size=8),
    st.text(alphabet="abA\u00e4", min_size=1, max_size=3),
)
def test_a_match_is_found_wherever_the_log_is_split(
    text: str, cuts: list[int], wanted: str
) -> None:
    data = text.encode()
    wanted_lines, at = [], 0
    for n, line in enumerate(text.split("\n"), 1):
        if wanted.lower() in line.lower():
            wanted_lines.append((n, at, line))
        at += len(line.encode()) + 1
    assert search(data, cuts, wanted) == wanted_lines


@hypothesis.given(
    st.text(alphabet="ab\n", max_size=60),
    st.lists(st.integers(0, 90), max_size=8),
    st.integers(0, 90),
)
def test_reading_continues_from_any_byte(text: str, cuts: list[int], since: int) -> None:
    data = text.encode()
    looking = LogSearch("a", 1_000, since)
    actual_chunks = chunks(data, cuts)
    before = [chunk for chunk in actual_chunks if chunk.at_byte < since][-1:]
    for chunk in before:
        # A search in a log that is read from the database begins like this.
        looking.walk.start = looking.walk.at = chunk.at_byte
        looking.walk.before = chunk.at_line
    for chunk in (*before, *(chunk for chunk in actual_chunks if chunk.at_byte >= since)):
        looking.feed(chunk)
    looking.end_line()
    hits = [(hit.line, hit.offset, hit.text) for hit in looking.hits.lines]
    assert hits == [hit for hit in search(data, cuts, "a") if hit[1] >= since]


@hypothesis.given(
    st.text(alphabet="ab\n", max_size=60),
    st.lists(st.integers(0, 90), max_size=8),
    st.integers(1, 12),
    st.integers(1, 5),
)
def test_only_existing_lines_are_read(text: str, cuts: list[int], first: int, count: int) -> None:
    data = text.encode()
    lines = text.split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    read = _read(iter(chunks(data, cuts)), first, count, 0)
    assert read.lines == lines[first - 1 : first - 1 + count]
    if read.lines:
        output = data[read.offset : read.next].decode()
        assert output.removesuffix("\n").split("\n") == read.lines


def test_a_line_without_an_end_takes_no_memory() -> None:
    looking = LogSearch("needle", 10)
    for n in range(200):
        looking.feed(Chunk(n * 65_536, 0, 65_536, b"x" * 65_536))
    looking.feed(Chunk(200 * 65_536, 0, 6, b"needle"))
    looking.end_line()
    assert looking.hits.matches == 1
    assert len(looking.hits.lines[0].text) == MAX_HIT_BYTES


def test_a_gap_ends_a_line() -> None:
    looking = LogSearch("ab", 10)
    looking.feed(Chunk(0, 0, 3, b"xxa"))
    looking.feed(Chunk(100, 7, 5, b"b\nab\n"))
    looking.end_line()
    assert [(hit.line, hit.offset) for hit in looking.hits.lines] == [(9, 102)]
    assert not looking.walk.is_gapless
