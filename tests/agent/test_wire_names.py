"""The names on the wire stay whatever the Python classes are called: agents and servers of
different versions read them. New fields may be added at the end, with a default value."""

from dataclasses import fields
from typing import get_args, get_type_hints

import pytest

from belvedere.protocol import (
    BlobArgument,
    FromAgent,
    FromServer,
    JournaledAttempt,
    MonitorCheck,
    Report,
    Sample,
)

MESSAGES = {
    "hello": "hostname agent_version fingerprint journal_id boot_id slots entries greeting is_saved"
    " highest keeper_id renews takes_changes disk updates update_error os_name os_version ip info"
    " protocol moves acknowledged",
    "started": "fence ago_ms",
    "ended": "fence report",
    "beat": "live watch disk",
    "want": "sha256",
    "samples": "stream number samples dropped",
    "watch_again": "number",
    "welcome": "session host_id beat_ms credit resume files",
    "order": "session fence job_id sha256 filename runas arguments env timeout_ms grace_ms"
    " daemonize os_user blobs masks",
    "cancel": "fence",
    "stop": "fence",
    "ack": "fences",
    "kept": "fence offset",
    "credit": "bytes",
    "missing": "sha256",
    "refusal": "code message",
    "reconnect": "after_ms server",
    "watch": "number monitors since removed part more",
    "noted": "stream number",
    "update": "version sha256 size downgrade signature key",
}
PARTS = {
    JournaledAttempt: "fence state job_id",
    Report: "ending code signal elapsed_ns reason message lastline log bytes_total lines_total"
    " sha256 survivors files files_skipped",
    Sample: "monitor_id version ago_ms state event message data measured",
    BlobArgument: "index sha256 filename",
    MonitorCheck: "id type version looptime_ms config",
}
SHAPES: dict[str, type] = {
    get_args(get_type_hints(shape)["kind"])[0]: shape
    for shape in (*get_args(FromAgent), *get_args(FromServer))
}


@pytest.mark.parametrize("kind", MESSAGES)
def test_a_kind_of_message_has_its_fields(kind: str) -> None:
    names = [field.name for field in fields(SHAPES[kind]) if field.name != "kind"]
    assert names[: len(MESSAGES[kind].split())] == MESSAGES[kind].split()


@pytest.mark.parametrize("shape", PARTS)
def test_a_part_of_a_message_has_its_fields(shape: type) -> None:
    names = [field.name for field in fields(shape)]
    assert names[: len(PARTS[shape].split())] == PARTS[shape].split()


def test_no_kind_of_message_is_added_without_its_row() -> None:
    assert set(SHAPES) == set(MESSAGES)
