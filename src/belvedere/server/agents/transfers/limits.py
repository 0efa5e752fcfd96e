"""Limits on what an agent says of an attempt, of itself and of its monitors."""

from typing import Any

from belvedere.base.text import json_text
from belvedere.jobs.output.artifacts import MOST_FILES
from belvedere.protocol import Hello, Report, Samples
from belvedere.server.agents.close_reasons import WIDEST, Goodbye, check_numbers

# Messages in one frame, and open attempts in one hello.
MAX_MESSAGES = 10_000
MAX_ENTRIES = 10_000
# Characters. An agent sends output of up to 16 KiB inside its report.
MAX_LOG = 64 * 1024
MAX_LASTLINE = 256 * 1024
MAX_MESSAGE = 4_000
MAX_WORD = 200
# Processes that survived, and files that were left behind on the host.
MAX_SURVIVORS = 1_000
MAX_SKIPPED = 100
# Samples in one batch, and batches that wait to be written. An agent sends 200, and 4 at a time.
MAX_SAMPLES = 1_000
MAX_BATCHES = 16


def check_messages(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if len(messages) > MAX_MESSAGES:
        raise Goodbye(4400, f"A frame has more than {MAX_MESSAGES} messages.")
    return messages


def check_hello(hello: Hello) -> None:
    if len(hello.entries) > MAX_ENTRIES:
        raise Goodbye(4400, f"A hello names more than {MAX_ENTRIES} attempts.")
    check_numbers(hello.greeting, *(entry.fence for entry in hello.entries))


def check_samples(batch: Samples) -> None:
    if len(batch.samples) > MAX_SAMPLES:
        raise Goodbye(4400, f"A batch has more than {MAX_SAMPLES} samples.")
    check_numbers(batch.number, batch.dropped)


def check_report(report: Report) -> None:
    """Numbers must fit; words that are too long are cut, for the end itself must not be lost."""
    check_numbers(report.bytes_total, report.lines_total, report.elapsed_ns, abs(report.code))
    report.reason = json_text.clean(report.reason[:MAX_WORD])
    if report.log is not None and len(report.log) > MAX_LOG:
        report.log = report.log[:MAX_LOG]
    if len(report.lastline) > MAX_LASTLINE:
        report.lastline = report.lastline[-MAX_LASTLINE:]
    if report.message or report.signal or report.survivors or report.files or report.files_skipped:
        _cut(report)
    if len(report.sha256) > MAX_WORD:
        report.sha256 = ""


def _cut(report: Report) -> None:
    report.message = json_text.clean(report.message[:MAX_MESSAGE])
    if report.signal is not None:
        report.signal = json_text.clean(report.signal[:MAX_WORD])
    survivors = [number for number in report.survivors[:MAX_SURVIVORS] if 0 <= number < WIDEST]
    report.survivors = survivors
    report.files = report.files[:MOST_FILES]
    skipped = [pair for pair in report.files_skipped[:MAX_SKIPPED] if len(pair) == 2]
    report.files_skipped = [[name[:MAX_WORD], reason[:MAX_WORD]] for name, reason in skipped]
