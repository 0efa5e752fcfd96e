"""What the scripts of a crash test record themselves, independently of the product."""

import hashlib
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

# One line per run, appended in one write and on disk before the script continues.
SCRIPT = """#!/bin/sh
line="$BELVEDERE_JOB_ID $BELVEDERE_FENCE $$"
printf '%s\\n' "$line" | dd of="$1" oflag=append conv=notrunc,fsync status=none || exit 99
seq 1 "$4"
sleep "$3"
seq 1 "$4"
exit "$2"
"""
ARGUMENTS = ("ledger", "code", "pause", "lines")


class Run(NamedTuple):
    """A run, as the script recorded it."""

    job_id: str
    fence: int
    pid: int


def read(path: Path) -> dict[str, list[Run]]:
    """Every run, by job."""
    record: dict[str, list[Run]] = defaultdict(list)
    for line in path.read_text().splitlines():
        job_id, fence, pid = line.split()
        record[job_id].append(Run(job_id, int(fence), int(pid)))
    return record


def output(lines: int) -> bytes:
    """What the script prints if it is not stopped."""
    half = b"".join(b"%d\n" % number for number in range(1, lines + 1))
    return half + half


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
