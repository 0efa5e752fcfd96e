"""Artifacts of a script: what is uploaded, kept or removed."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.keeper_process import KeeperHarness
from belvedere.agent.output.upload import OutputUpload
from belvedere.agent.workdir import artifacts
from belvedere.protocol import CHUNK, AttemptEnded, Report, unpack_file
from e2e.wait_until import until


def wait_until(is_so: Callable[[], bool]) -> None:
    """The keeper removes folders in a separate process and does not report it."""
    until(is_so, 30, lambda: "")


def stored_files(keeper: KeeperHarness) -> list[str]:
    return sorted(os.listdir(keeper.folder.files))


def test_files_of_a_script_are_reported(keeper: KeeperHarness) -> None:
    source = (
        '#!/bin/sh\nprintf one > "$BELVEDERE_FILES/a.txt"\ncd "$BELVEDERE_FILES"; echo two > ü\n'
    )
    fence = keeper.order(source)
    report = keeper.report(fence)
    assert report["files"] == [["a.txt", 3], ["ü", 4]] and "files_skipped" not in report
    folder = Path(keeper.folder.files) / str(fence)
    assert (folder / "a.txt").read_text() == "one"
    # Until the server has them.
    keeper.send_messages(do="ack", fences=[fence])
    keeper.run("#!/bin/sh\n")
    wait_until(lambda: stored_files(keeper) == [])


def test_most_scripts_leave_none_and_use_a_folder_again(keeper: KeeperHarness) -> None:
    text = '#!/bin/sh\necho "$BELVEDERE_FILES"; ls "$BELVEDERE_FILES"\n'
    first, second = keeper.run(text), keeper.run(text)
    assert "files" not in first and first["log"] == second["log"]
    assert stored_files(keeper) == []


def test_a_folder_with_files_is_fresh_for_the_next(keeper: KeeperHarness) -> None:
    keeper.run('#!/bin/sh\necho x > "$BELVEDERE_FILES/x"\n')
    assert "files" not in keeper.run('#!/bin/sh\nls -A "$BELVEDERE_FILES"\n')


HOSTILE = """#!/bin/sh
cd "$BELVEDERE_FILES"
echo good > good
ln -s /etc/passwd link
ln good hard 2>/dev/null
mkdir folder; echo x > folder/inside
mkfifo pipe
printf x > "$(printf 'new\\nline')"
printf x > "$(printf 'bad\\377name')"
printf x > "%s"
truncate -s 100M huge
"""


def test_only_regular_files_are_sent(keeper: KeeperHarness) -> None:
    report = keeper.run(HOSTILE % ("l" * 201))
    skipped = {name: reason for name, reason in report["files_skipped"]}
    assert "files" not in report
    assert skipped == {
        "link": "link",
        # Two names of one file: neither is uploaded.
        "good": "kind",
        "hard": "kind",
        "folder": "folder",
        "pipe": "kind",
        "new\nline": "name",
        "bad?name": "name",
        "l" * 200: "name",
        "huge": "size",
    }


@pytest.mark.parametrize(
    "source",
    [
        'rm -r "$BELVEDERE_FILES"',
        'rm -r "$BELVEDERE_FILES"; ln -s /etc "$BELVEDERE_FILES"',
        'rm -r "$BELVEDERE_FILES"; echo x > "$BELVEDERE_FILES"',
    ],
)
def test_a_folder_that_was_deleted_yields_no_files(keeper: KeeperHarness, source: str) -> None:
    report = keeper.run(f"#!/bin/sh\n{source}\n")
    assert report["ending"] == "exit" and "files" not in report
    assert keeper.run('#!/bin/sh\necho x > "$BELVEDERE_FILES/x"\n')["files"] == [["x", 2]]


def test_a_folder_that_was_shut_is_opened(keeper: KeeperHarness) -> None:
    report = keeper.run('#!/bin/sh\ncd "$BELVEDERE_FILES"; echo x > x; chmod 0 .\n')
    assert report["files"] == [["x", 2]]


def test_the_number_of_files_is_limited(keeper: KeeperHarness) -> None:
    report = keeper.run(
        '#!/bin/sh\ncd "$BELVEDERE_FILES"; i=0\n'
        'while [ $i -lt 110 ]; do : > "f$i"; i=$((i+1)); done\n'
    )
    assert len(report["files"]) == artifacts.MAX_FILES
    assert [reason for _, reason in report["files_skipped"]] == ["count"] * 10


def test_the_total_size_of_the_files_is_limited(keeper: KeeperHarness) -> None:
    report = keeper.run(
        '#!/bin/sh\ncd "$BELVEDERE_FILES"; for n in 1 2 3; do truncate -s 30M $n; done\n'
    )
    assert len(report["files"]) == 2 and [why for _, why in report["files_skipped"]] == ["size"]


def test_a_killed_script_leaves_its_files(keeper: KeeperHarness) -> None:
    fence = keeper.order(
        '#!/bin/sh\necho half > "$BELVEDERE_FILES/half"; echo there; exec sleep 300\n'
    )
    keeper.wait(lambda m: m["say"] == "output" and m["fence"] == fence)
    keeper.send_messages(do="cancel", fence=fence)
    report = keeper.report(fence)
    assert (report["ending"], report["files"]) == ("canceled", [["half", 5]])


def test_a_new_keeper_keeps_files_that_are_not_acknowledged(keeper: KeeperHarness) -> None:
    first = keeper.order('#!/bin/sh\necho x > "$BELVEDERE_FILES/x"\n')
    keeper.report(first)
    second = keeper.order('#!/bin/sh\necho y > "$BELVEDERE_FILES/y"\n')
    keeper.report(second)
    keeper.send_messages(do="ack", fences=[first])
    wait_until(lambda: stored_files(keeper) == [str(second)])
    os.makedirs(f"{keeper.folder.files}/77/stray")
    keeper.kill()
    keeper.start()
    (entry,) = keeper.connect()["entries"]
    assert entry["report"]["files"] == [["y", 2]]
    wait_until(lambda: stored_files(keeper) == [str(second)])


# While they are uploaded


def drain(streams: OutputUpload) -> tuple[dict[int, bytes], list[Any]]:
    fields: dict[int, bytes] = {}
    order: list[Any] = []
    while (actual_data := streams.next()) is not None:
        if isinstance(actual_data, AttemptEnded):
            order.append("end")
            continue
        _, number, at_byte, data = unpack_file(actual_data)
        assert at_byte == len(fields.get(number, b""))
        fields[number] = fields.get(number, b"") + data
        order.append(number)
    return fields, order


def upload_with_files(tmp_path: Path, **files: bytes) -> OutputUpload:
    folder = tmp_path / "files" / "7"
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    output_upload = OutputUpload(str(tmp_path / "spool"), str(tmp_path / "files"))
    output_upload.credit = 10 * CHUNK
    return output_upload


def test_files_go_before_the_end(tmp_path: Path) -> None:
    streams = upload_with_files(tmp_path, a=b"x" * (CHUNK + 5), b=b"", c=b"y")
    streams.end(7, Report("exit", log="", files=[["a", CHUNK + 5], ["b", 0], ["c", 1]]))
    record, order = drain(streams)
    assert record == {0: b"x" * (CHUNK + 5), 2: b"y"} and order == [0, 0, 2, "end"]


def test_files_wait_for_credit_and_are_limited_like_output(tmp_path: Path) -> None:
    streams = upload_with_files(tmp_path, a=b"x" * (2 * CHUNK))
    streams.credit = CHUNK + 100
    streams.end(7, Report("exit", log="", files=[["a", 2 * CHUNK]]))
    streams.end(8, Report("exit", log=""))
    # A file that does not fit does not delay the others.
    assert drain(streams)[1] == [0, "end"]
    assert streams.credit == 100
    streams.credit = CHUNK
    piece = streams.next()
    assert isinstance(piece, bytes) and unpack_file(piece)[:3] == (7, 0, CHUNK)
    assert isinstance(streams.next(), AttemptEnded)


def test_unreadable_files_are_left_out(tmp_path: Path) -> None:
    streams = upload_with_files(tmp_path, a=b"x", c=b"short")
    (tmp_path / "files" / "7" / "b").symlink_to("/etc/passwd")
    names = ["gone", "a", "b", "../7/a", "c"]
    streams.end(7, Report("exit", log="", files=[[name, 9] for name in names]))
    record, order = drain(streams)
    assert record == {1: b"x", 4: b"short"} and order[-1] == "end"


def test_a_server_without_artifacts_gets_none_reported(tmp_path: Path) -> None:
    streams = upload_with_files(tmp_path, a=b"x")
    streams.takes_files = False
    streams.end(7, Report("exit", log="", files=[["a", 1]]))
    data = streams.next()
    assert isinstance(data, AttemptEnded) and data.report.files == []
