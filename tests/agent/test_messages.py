"""Messages of the agent, compared with a plain encoding of the dataclasses."""

import json
from dataclasses import asdict
from typing import Any, get_args

import pytest

from belvedere.agent import messages
from belvedere.protocol import (
    AttemptEnded,
    AttemptStarted,
    BlobRequest,
    FromAgent,
    Heartbeat,
    Hello,
    JournaledAttempt,
    MonitorConfigRequest,
    Report,
    Sample,
    Samples,
)

SAID: tuple[Any, ...] = (
    Hello(
        "web",
        "1",
        "f",
        "j",
        "b",
        16,
        [JournaledAttempt(1, "live"), JournaledAttempt(2, "ended")],
        info={"a": [1]},
    ),
    AttemptStarted(1, 70),
    AttemptEnded(2, Report("exit", 3, log='"\ud83d\n', survivors=[5], files=[["a.txt", 7]])),
    Heartbeat([1, 2]),
    BlobRequest("ab"),
    Samples("s", 1, [Sample("m", 2, 3, "failure", data={"x": None}, measured={"ms": 0.5})]),
    MonitorConfigRequest(-1),
)


def test_messages_share_a_frame() -> None:
    assert json.loads(messages.frame(SAID)) == [asdict(message) for message in SAID]


@pytest.mark.parametrize("shape", get_args(FromAgent))
def test_every_message_is_tried(shape: type) -> None:
    assert shape in map(type, SAID)
