"""Laying out what a script needs before it starts: its file and the files among its arguments."""

from __future__ import annotations

import os

from belvedere.agent.accounts import Account
from belvedere.agent.workplace import Workplace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from belvedere.agent.ledger import Message

PIECE = 1024 * 1024


def basename(filename: str) -> str:
    """A name without any path in it; scripts of every origin get a usable one."""
    name = filename.replace("\\", "/").rsplit("/", 1)[-1].replace("\0", "")[:200]
    return name if name.strip(". ") else "script"


def stage(order: Message, account: Account, place: Workplace) -> str:
    """The path of the script as its user can reach it; file arguments become paths."""
    for blob in order["blobs"]:
        path = _free_name(place.path, basename(blob["filename"]))
        _copy(blob["path"], path, 0o600)
        os.chown(path, account.uid, account.gid)
        order["arguments"][blob["index"]] = path
    script: str = order["script"]
    if not account.switch:
        return script
    # The cache is closed to other users, so theirs is a copy that only they can reach.
    folder = place.private + "/script"
    os.mkdir(folder, 0o755)
    path = f"{folder}/{os.path.basename(script)}"
    _copy(script, path, 0o755)
    return path


def _free_name(folder: str, name: str) -> str:
    path, count = f"{folder}/{name}", 1
    while os.path.lexists(path):
        count += 1
        path = f"{folder}/{count}-{name}"
    return path


def _copy(source: str, target: str, mode: int) -> None:
    with open(source, "rb", buffering=0) as origin:
        fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with open(fd, "wb", buffering=0) as copy:
            while piece := origin.read(PIECE):
                copy.write(piece)
