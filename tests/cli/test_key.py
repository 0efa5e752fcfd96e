"""`belvedere key`, on the server's own machine, without a server."""

import json
from pathlib import Path

from belvedere.access.crypto import key_file
from cli.conftest import Belvedere

CREATE = ("organization", "create", "acme", "--email", "ada@acme.example")


def test_the_key_is_rotated(anonymous: Belvedere, tmp_path: Path) -> None:
    data = ("--data", str(tmp_path / "data"))
    assert anonymous(*CREATE, *data).status == 0
    before = key_file.load(tmp_path / "data")
    assert "first" in anonymous("key", "show", *data).out
    pair = anonymous("key", "rotate", *data)
    assert pair.status == 0 and "Old keys dropped: 1" in pair.out, pair.err
    after = key_file.load(tmp_path / "data")
    assert list(after.seals) != list(before.seals) and after.hash == before.hash
    record = json.loads(anonymous("key", "show", "--json", *data).out)
    assert record == {"in_use": after.newest, "keys": [{"name": after.newest, "sealed": 0}]}


def test_a_key_is_changed_in_steps_for_several_servers(
    anonymous: Belvedere, tmp_path: Path
) -> None:
    data = ("--data", str(tmp_path / "data"))
    anonymous(*CREATE, *data)
    added = anonymous("key", "add", *data)
    assert "Nothing is encrypted with it yet" in added.out
    assert "Old keys dropped: 0" in anonymous("key", "rotate", "--keep", *data).out
    assert len(key_file.load(tmp_path / "data").seals) == 2
    assert "Old keys dropped: 1" in anonymous("key", "drop", *data).out
    assert len(key_file.load(tmp_path / "data").seals) == 1
