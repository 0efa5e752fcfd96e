"""Secrets in the output of scripts are masked before anything is stored, reported or written to
disk."""

import base64
from pathlib import Path

import pytest

from agent.keeper_process import KeeperHarness
from belvedere.agent.connection.order_intake import OrderIntake
from belvedere.agent.output.capture import OutputCapture
from belvedere.protocol import Order

SECRET = "correct-horse/battery+staple"
LETTERS = base64.b64encode(SECRET.encode()).decode().rstrip("=")
TOLD = f'{{"state": "success", "output": ["{SECRET}", "plain"]}}'
SCRIPT = f"""#!/bin/sh
echo "by environment: $PASSWORD"
echo "by argument: $1"
printf '%s' "${{PASSWORD%staple}}"
sleep 0.1
echo staple
printf '%s' "$PASSWORD" | base64
echo '{TOLD}'
"""


def on_disk(keeper: KeeperHarness) -> bytes:
    """Everything in the state folder except the script itself, which the test wrote there."""
    paths = [path for path in Path(keeper.folder.root).rglob("*") if path.is_file()]
    return b"".join(path.read_bytes() for path in paths if "cache" not in path.parts)


@pytest.mark.parametrize("flood", [0, 3_000], ids=["inline", "spooled"])
def test_secrets_in_output_are_masked(keeper: KeeperHarness, flood: int) -> None:
    source = SCRIPT.replace("by argument", "filler\\n" * flood + "by argument")
    fence = keeper.order(source, SECRET, env={"PASSWORD": SECRET}, masks=[SECRET])
    report = keeper.report(fence)
    assert report["lastline"] == TOLD.replace(SECRET, "***")
    value = report["log"].encode() if "log" in report else keeper.spool_bytes(fence)
    for form in (SECRET, LETTERS, SECRET[:-6] + "\n"):
        assert form.encode() not in value
        assert form.encode() not in on_disk(keeper)
    assert value.endswith(b"by argument: ***\n***\n***==\n" + report["lastline"].encode() + b"\n")


def test_buffered_output_is_written_at_the_end(keeper: KeeperHarness) -> None:
    """The beginning of a secret, and then nothing more."""
    fence = keeper.order("#!/bin/sh\nprintf 'it ends with correct-ho'\n", masks=[SECRET])
    report = keeper.report(fence)
    assert (report["log"], report["lastline"]) == ("it ends with correct-ho",) * 2
    assert report["bytes_total"] == 23


def test_a_flood_of_secrets_ends(keeper: KeeperHarness) -> None:
    """A script that only ever writes a secret is read no longer than others."""
    source = "#!/bin/sh\n(exec yes aaaaaaaa) &\nexit 0\n"
    fence = keeper.order(source, masks=["a" * 8], daemonize=True)
    assert keeper.report(fence)["code"] == 0


def test_the_totals_count_the_masked_output(tmp_path: Path) -> None:
    output = OutputCapture(100, [SECRET])
    for piece in (b"a ", SECRET[:9].encode(), SECRET[9:].encode(), b" b\n"):
        output.feed(piece, str(tmp_path), 1)
    output.finish(str(tmp_path), 1)
    summary = output.summary()
    assert (summary["log"], summary["bytes_total"], output.received_total) == ("a *** b\n", 8, 33)


class FakeKeeper:
    def __init__(self) -> None:
        self.said: list[dict[str, object]] = []

    def send(self, message: dict[str, object]) -> None:
        self.said.append(message)


def test_a_keeper_that_cannot_hide_gets_no_secret() -> None:
    """A keeper of an older version that still has scripts after an upgrade."""
    keeper = FakeKeeper()
    supply = OrderIntake(keeper, None, lambda _: None)  # type: ignore[arg-type]
    supply.can_mask = False
    supply.order(Order(1, 7, "job", "ab" * 32, "a.sh", [], [], {"P": SECRET}, 1, masks=[SECRET]))
    (item,) = keeper.said
    assert item["do"] == "refuse" and SECRET not in str(item)
    assert item["report"]["reason"] == "keeper_outdated"  # type: ignore[index]
