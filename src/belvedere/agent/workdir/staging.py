"""Preparing the files of a script before it starts: the script and its file arguments."""

from __future__ import annotations

import os

from belvedere.agent.workdir.accounts import ScriptAccount
from belvedere.agent.workdir.directories import create_file, open_directory
from belvedere.agent.workdir.workdirs import Workdir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from belvedere.agent.journal.state import Message

PIECE = 1024 * 1024


def basename(filename: str) -> str:
    """A name without a path; `script` if nothing usable is left."""
    name = filename.replace("\\", "/").rsplit("/", 1)[-1].replace("\0", "")[:200]
    return name if name.strip(". ") else "script"


def stage(order: Message, account: ScriptAccount, place: Workdir) -> str:
    """The path of the script as its user can reach it; file arguments become paths."""
    _stage_arguments(order, account, place)
    script: str = order["script"]
    if not account.switch:
        return script
    # Other users cannot read the cache, so they get a copy that only they can read.
    folder, name = place.private + "/script", os.path.basename(script)
    directory = open_directory(folder)
    try:
        _copy(script, create_file(name, 0o755, directory), account)
    finally:
        os.close(directory)
    place.hand_over(account.uid, account.gid)
    return f"{folder}/{name}"


def _stage_arguments(order: Message, account: ScriptAccount, place: Workdir) -> None:
    if not order["blobs"]:
        return
    directory = open_directory(place.path)
    try:
        for blob in order["blobs"]:
            name, fd = _create_free(basename(blob["filename"]), directory)
            _copy(blob["path"], fd, account)
            order["arguments"][blob["index"]] = f"{place.path}/{name}"
    finally:
        os.close(directory)


def _create_free(name: str, directory: int) -> tuple[str, int]:
    """A new file with this name, or with a number before it if the name exists."""
    free, count = name, 1
    while True:
        try:
            return free, create_file(free, 0o600, directory)
        except FileExistsError:
            count += 1
            free = f"{count}-{name}"


def _copy(source: str, target: int, account: ScriptAccount) -> None:
    """Copy into the open file, which belongs to the script's user afterwards."""
    with open(target, "wb", buffering=0) as copy, open(source, "rb", buffering=0) as origin:
        while piece := origin.read(PIECE):
            copy.write(piece)
        if account.switch:
            os.fchown(target, account.uid, account.gid)
