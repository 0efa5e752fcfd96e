"""The journal on disk: complete, truncated and damaged."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belvedere.agent.journal import journal as journals
from belvedere.agent.journal.journal import Journal, line, read
from belvedere.agent.journal.state import MAX_REMEMBERED, JournalState, records, replay

HEAD = line(["journal", 1, "first", "host"])
LINES = [
    HEAD,
    line(["boot", "boot1"]),
    line(["accepted", 5, "job5"]),
    line(["accepted", 6, "job6"]),
    line(["ended", 5, {"ending": "exit", "code": 3}]),
    line(["acked", [5]]),
    line(["accepted", 7, "job7"]),
    line(["ended", 6, {"ending": "exit", "lastline": "ü"}]),
]


def reports_by_fence(journal_state: JournalState) -> dict[int, object]:
    return {fence: entry.report for fence, entry in journal_state.entries.items()}


def open_journal(path: Path, journal_state: JournalState) -> Journal:
    journal = Journal(str(path))
    journal.renew(journal_state)
    return journal


def test_journal_records_are_read_after_a_restart(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "journal"))
    journal_state = journal.load("fresh")
    assert (journal_state.journal_id, journal_state.entries) == ("fresh", {})
    journal.renew(journal_state)
    for record in (["accepted", 9, "job9"], ["ended", 9, {"ending": "exit"}]):
        replay(journal_state, record)
        journal.append(record, sync=True)
    journal.commit(journal_state)
    again = Journal(str(tmp_path / "journal")).load("another")
    assert again.journal_id == "fresh"
    assert reports_by_fence(again) == {9: {"ending": "exit"}}
    assert again.knows(9)


def test_the_journal_is_read_as_it_was_written() -> None:
    journal_state, value = read(b"".join(LINES), "new")
    assert value
    assert (journal_state.journal_id, journal_state.owner, journal_state.boot_id) == (
        "first",
        "host",
        "boot1",
    )
    assert reports_by_fence(journal_state) == {6: {"ending": "exit", "lastline": "ü"}, 7: None}
    assert all(journal_state.knows(fence) for fence in (5, 6, 7))
    assert not journal_state.knows(8)


def test_a_torn_tail_is_cut_off_at_any_byte() -> None:
    data = b"".join(LINES)
    for cut in range(len(HEAD), len(data) + 1):
        journal_state, value = read(data[:cut], "new")
        count = data[:cut].count(b"\n")
        expected, _ = read(b"".join(LINES[:count]), "new")
        assert value, cut
        assert journal_state.journal_id == "first"
        assert reports_by_fence(journal_state) == reports_by_fence(expected)


def test_garbage_at_the_end_is_a_torn_tail() -> None:
    journal_state, value = read(b"".join(LINES) + b"\0" * 4096, "new")
    assert value
    assert journal_state.journal_id == "first"
    assert set(reports_by_fence(journal_state)) == {6, 7}


@pytest.mark.parametrize("at", range(len(LINES)))
def test_damage_to_any_complete_line_changes_the_identity(at: int) -> None:
    lines = list(LINES)
    lines[at] = lines[at][:12] + b"#" + lines[at][13:]
    journal_state, value = read(b"".join(lines), "new")
    assert not value
    assert journal_state.journal_id == "new"
    assert 7 in journal_state.entries or at == 6


def test_a_damaged_file_is_put_aside_for_a_person(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_bytes(LINES[0] + b"rubbish\n" + LINES[2])
    journal = Journal(str(path))
    journal_state = journal.load("new")
    assert set(reports_by_fence(journal_state)) == {5}
    journal.renew(journal_state)
    assert (tmp_path / "journal.damaged").read_bytes().count(b"rubbish") == 1
    assert Journal(str(path)).load("x").journal_id == "new"


def test_a_file_without_its_head_proves_nothing() -> None:
    assert read(b"".join(LINES[1:]), "new")[0].journal_id == "new"
    assert read(b"", "new")[1]


def test_a_newer_agents_journal_is_refused() -> None:
    with pytest.raises(ValueError, match="newer agent"):
        read(line(["journal", 2, "id", "host"]), "new")


def test_the_size_of_the_journal_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals, "SLACK", 5_000)
    monkeypatch.setattr(journals, "PREALLOCATED", 1_000)
    path = tmp_path / "journal"
    journal_state = JournalState("id")
    journal = open_journal(path, journal_state)
    largest = 0
    for fence in range(1, 500):
        for record in (["accepted", fence, "j"], ["ended", fence, {}], ["acked", [fence]]):
            replay(journal_state, record)
            journal.append(record, sync=record[0] == "accepted")
            journal.commit(journal_state)
        largest = max(largest, path.stat().st_size)
    assert largest < 12_000
    again = Journal(str(path)).load("x")
    assert (again.journal_id, again.entries) == ("id", {})
    assert all(again.knows(fence) for fence in range(1, 500))


def test_a_crash_while_it_is_rewritten_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal"
    journal_state = JournalState("id")
    journal = open_journal(path, journal_state)
    before = path.read_bytes()
    replay(journal_state, ["accepted", 1, "j"])

    def crash(*_: object) -> None:
        raise OSError("no more")

    monkeypatch.setattr(os, "rename", crash)
    with pytest.raises(OSError, match="no more"):
        journal.renew(journal_state)
    assert path.read_bytes() == before
    assert not Journal(str(path)).load("x").knows(1)


def test_a_failed_write_is_mended_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal"
    journal_state = JournalState("id")
    journal = open_journal(path, journal_state)
    with monkeypatch.context() as patched:

        def half(fd: int, data: bytes) -> int:
            os.write(fd, data[:10])
            raise OSError(28, "No space left on device")

        patched.setattr(journals, "_write", half)
        replay(journal_state, ["accepted", 1, "j"])
        journal.append(["accepted", 1, "j"], sync=True)
        with pytest.raises(OSError, match="No space"):
            journal.commit(journal_state)
        assert not journal.is_sound
    replay(journal_state, ["accepted", 2, "k"])
    journal.append(["accepted", 2, "k"], sync=True)
    journal.commit(journal_state)
    assert journal.is_sound
    again, value = read(path.read_bytes(), "x")
    assert value
    assert set(reports_by_fence(again)) == {1, 2}


def test_the_caller_works_while_the_disk_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal"
    journal_state = JournalState("id")
    journal = open_journal(path, journal_state)
    steps: list[str] = []
    monkeypatch.setattr(journals, "sync_data", lambda _: steps.append("durable"))

    def work() -> None:
        assert b'["accepted",1,"j"]' in path.read_bytes()
        steps.append("work")

    journal.append(["accepted", 1, "j"], sync=True)
    journal.commit(journal_state, work)
    assert steps == ["work", "durable"]
    journal.append(["ended", 1, {}], sync=False)
    journal.commit(journal_state, work)
    assert steps == ["work", "durable"]


def write_entry(journal: Journal, journal_state: JournalState, fence: int) -> None:
    replay(journal_state, ["accepted", fence, "j" * 50])
    journal.append(["accepted", fence, "j" * 50], sync=True)
    journal.commit(journal_state)


def test_most_writes_leave_the_size_of_the_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals, "PREALLOCATED", 2_000)
    path = tmp_path / "journal"
    journal_state = JournalState("id")
    journal = open_journal(path, journal_state)
    sizes = set()
    for fence in range(1, 101):
        write_entry(journal, journal_state, fence)
        sizes.add(path.stat().st_size)
        again, value = read(path.read_bytes(), "x")
        assert value
        assert again.journal_id == "id"
        assert len(reports_by_fence(again)) == fence
    assert 2 < len(sizes) < 10
    journal.renew(journal_state)
    fresh = path.stat().st_size
    write_entry(journal, journal_state, 101)
    assert path.stat().st_size > fresh + 2_000


def test_the_journal_is_written_when_the_disk_is_almost_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals, "PREALLOCATED", 200)
    path = tmp_path / "journal"
    journal_state = JournalState("id")
    journal = open_journal(path, journal_state)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    def little(fd: int, data: bytes, at: int) -> int:
        return pwrite(fd, data[:30], at)

    pwrite = os.pwrite
    for fence in range(1, 31):
        with monkeypatch.context() as patched:
            if fence % 3:
                patched.setattr(os, "pwrite", full if fence % 3 == 1 else little)
            write_entry(journal, journal_state, fence)
    again, value = read(path.read_bytes(), "x")
    assert value
    assert list(reports_by_fence(again)) == list(range(1, 31))


def test_fences_beyond_memory_stay_known() -> None:
    journal_state = JournalState("id")
    for fence in range(10, 10 + 3 * MAX_REMEMBERED):
        journal_state.remember(fence)
    assert len(journal_state.accepted_fences) <= MAX_REMEMBERED
    assert all(journal_state.knows(fence) for fence in range(1, 10 + 3 * MAX_REMEMBERED))
    assert not journal_state.knows(10 + 3 * MAX_REMEMBERED)
    assert journal_state.highest() == 9 + 3 * MAX_REMEMBERED


@given(
    st.lists(
        st.tuples(st.sampled_from(["accepted", "ended", "acked"]), st.integers(1, 12)), max_size=40
    )
)
def test_a_rewritten_journal_has_the_same_content(steps: list[tuple[str, int]]) -> None:
    journal_state = JournalState("id", "boot")
    for kind, fence in steps:
        if kind == "accepted" and not journal_state.knows(fence):
            replay(journal_state, ["accepted", fence, f"job{fence}"])
        elif kind == "ended":
            replay(journal_state, ["ended", fence, {"code": fence}])
        elif kind == "acked":
            replay(journal_state, ["acked", [fence]])
    again = JournalState("id")
    for record in records(journal_state):
        replay(again, record)
    assert reports_by_fence(again) == reports_by_fence(journal_state)
    assert (again.accepted_fences, again.accepted_up_to, again.boot_id) == (
        journal_state.accepted_fences,
        journal_state.accepted_up_to,
        "boot",
    )
