"""Output of scripts through the whole product: every byte, live and afterwards, or counted."""

import hashlib
import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from e2e import process_leaks
from e2e.site import Site

FLOOD = 200 * 1000 * 1000
KEPT = 16 * 1024 * 1024
LAST_LINE = 256 * 1024
HEAD = 1024 * 1024
# How much each process may grow, whatever a script prints.
GROWTH_KIB = 32 * 1024
LINE = b"a line of a flood that nobody will ever read to its end\n"

PYTHON = "#!/usr/bin/env python3\nimport sys, time\nout = sys.stdout.buffer\n"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def log_text(events: list[tuple[str, Any]]) -> str:
    """The text of a live log."""
    return "".join(value for kind, value in events if kind == "output")


def test_output_and_errors_are_logged_in_order(site: Site) -> None:
    job = site.run("#!/bin/sh\necho out\necho err >&2\nprintf 'no end of line'\n")
    assert site.world.log(job["id"]) == b"out\nerr\nno end of line"
    assert job["result"]["lastline"] == "no end of line"
    assert job["result"]["log_lines"] == 3
    events = list(site.listen(job["id"]))
    assert log_text(events) == "out\nerr\nno end of line"
    assert events[-1][1]["complete"]


@contextmanager
def flat_memory(site: Site) -> Iterator[None]:
    """Server, agent and keeper may not grow meanwhile, not even for a moment."""
    warm = site.run(f"#!/bin/sh\nyes 'warm up' | head -c {4 * HEAD}\n")
    assert warm["result"]["log_bytes"] == 4 * HEAD
    pids = (site.world.server.pid, site.agent.pid, site.agent.keeper())
    before = [process_leaks.resident_kib(pid) for pid in pids]
    for pid in pids:
        process_leaks.forget_peak(pid)
    yield
    after = [process_leaks.resident_kib(pid, peak=True) for pid in pids]
    grown = [now - was for now, was in zip(after, before, strict=True)]
    assert max(grown) <= GROWTH_KIB, f"server, agent, keeper grew by {grown} KiB"


@pytest.mark.heavy
def test_a_flood_leaves_memory_flat_and_is_counted(site: Site) -> None:
    with flat_memory(site):
        job_id = site.start(f"#!/bin/sh\nyes '{LINE.decode().strip()}' | head -c {FLOOD}\n")
        job = site.world.wait_ended(job_id, 120)
    _check_flood(site, job)


@pytest.mark.heavy
def test_a_line_without_end_leaves_memory_flat(site: Site) -> None:
    size = FLOOD // 4
    with flat_memory(site):
        job_id = site.start(f"#!/bin/sh\nhead -c {size} /dev/zero | tr '\\0' x\n")
        result = site.world.wait_ended(job_id, 60)["result"]
    assert (result["log_bytes"], result["log_lines"]) == (size, 1)
    assert result["log_sha256"] == digest(b"x" * size)
    assert set(result["lastline"]) == {"x"}
    assert len(result["lastline"]) <= LAST_LINE


def _check_flood(site: Site, job: dict[str, Any]) -> None:
    data = LINE * (FLOOD // len(LINE) + 1)
    data = data[:FLOOD]
    result = job["result"]
    assert (job["state"], result["code"]) == ("normal", 0)
    assert (result["log_bytes"], result["log_sha256"]) == (FLOOD, digest(data))
    assert result["log_lines"] == data.count(b"\n") + 1
    text = site.world.log(job["id"])
    cut = re.search(rb"\n\[\D+(\d+) bytes were cut here: (\d+) to (\d+)\D+\]\n", text)
    assert cut is not None, "the cut is not marked"
    size, start, end = map(int, cut.groups())
    assert text[: cut.start()] == data[:start]
    assert text[cut.end() :] == data[end:]
    assert size == end - start
    assert start >= HEAD
    assert KEPT - 2 * HEAD <= FLOOD - size <= KEPT
    actual_end = dict(site.listen(job["id"], offset=FLOOD - 10))["end"]
    assert (actual_end["bytes"], actual_end["kept"], actual_end["complete"]) == (
        FLOOD,
        FLOOD - size,
        False,
    )


def test_an_endless_flood_does_not_hold_up_other_jobs(site: Site) -> None:
    flood = site.start("#!/bin/sh\nexec yes\n")
    site.says(flood, b"y\ny\n")
    short = [site.run("#!/bin/sh\necho quick\n") for _ in range(5)]
    assert {job["state"] for job in short} == {"normal"}
    ended = site.cancel(flood)
    assert (ended["lifecycle"], ended["state"]) == ("terminated", "canceled")
    assert ended["result"]["log_bytes"] > 0


# Characters of every length, so that some are split between two pieces.
WORDS = "aß€𝄞\n"


def test_characters_survive_the_edges_of_pieces(site: Site) -> None:
    """Also if a script writes every byte separately."""
    source = PYTHON + (
        f"data = {WORDS!r}.encode() * 20_000\n"
        "out.write(data); out.flush()\n"
        f"for byte in {WORDS!r}.encode() * 3:\n"
        "    out.write(bytes([byte])); out.flush(); time.sleep(0.02)\n"
    )
    job_id = site.start(source)
    expected = WORDS * 20_003
    events = list(site.listen(job_id))
    assert log_text(events) == expected
    assert site.world.log(job_id) == expected.encode()
    assert log_text(list(site.listen(job_id))) == expected
    assert events[-1][1]["sha256"] == digest(expected.encode())


@pytest.mark.parametrize("size", [1, 30_000], ids=["short", "long"])
def test_bytes_that_are_no_text_harm_nothing(site: Site, size: int) -> None:
    data = b"a\xff\xfeb\0c\xed\xa0\x80d\n" * size
    source = PYTHON + f"out.write({data[:11]!r} * {size})\n"
    job = site.run(source)
    data = data[:11] * size
    assert (job["state"], job["result"]["log_bytes"]) == ("normal", len(data))
    assert job["result"]["log_sha256"] == digest(data)
    text = data.decode(errors="replace")
    output = site.world.log(job["id"]).decode(errors="replace")
    assert output.replace("\0", "\ufffd") == text.replace("\0", "\ufffd")
    assert log_text(list(site.listen(job["id"]))).replace("\0", "\ufffd") == text.replace(
        "\0", "\ufffd"
    )


SLOW = "#!/bin/sh\nfor i in $(seq 1 300); do echo line $i; sleep 0.01; done\n"
SLOW_TEXT = "".join(f"line {number}\n" for number in range(1, 301))


def test_a_reader_whose_connection_drops_loses_and_duplicates_nothing(site: Site) -> None:
    job_id = site.start(SLOW)
    events = []
    drop_at = itertools.cycle((False, False, False, True))
    for event in site.listen(job_id):
        events.append(event)
        if next(drop_at) and event[0] == "output":
            site.world.proxy.drop()
    assert log_text(events) == SLOW_TEXT


def test_a_reader_survives_a_restart_of_the_server(site: Site) -> None:
    job_id = site.start(SLOW)
    events = []
    is_killed = False
    for event in site.listen(job_id):
        events.append(event)
        if not is_killed and "line 50" in log_text(events):
            is_killed = True
            site.world.server.kill()
            assert site.world.start()
    assert is_killed
    assert log_text(events) == SLOW_TEXT
    assert site.world.wait_ended(job_id)["result"]["code"] == 0
    assert site.world.log(job_id) == SLOW_TEXT.encode()
