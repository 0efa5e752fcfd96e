"""`belvedere backup` and `belvedere restore` themselves, on files of the simulated databases."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from belvedere.server.backup.create import back_up
from belvedere.server.backup.load import restore_backup
from belvedere.settings import Settings

# In memory if that is possible: the commands wait for the disk.
FOLDER = "/dev/shm" if Path("/dev/shm").is_dir() else None
KEY = "00" * 32
# In the header of a SQLite file: whether it has a write-ahead log. A database in memory has none.
FORMAT_BYTES, WITHOUT_LOG = slice(18, 20), b"\x01\x01"


def pass_through(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a database after a backup and a restore into an empty folder."""
    with tempfile.TemporaryDirectory(dir=FOLDER) as root:
        old, new = Path(root, "old"), Path(root, "new")
        old.mkdir()
        for name, data in files.items():
            (old / name).write_bytes(data)
        archive = Path(root, "belvedere.zip")
        back_up(Settings(data=str(old), secret_key=KEY), archive, _report)
        restore_backup(Settings(data=str(new), secret_key=KEY), archive, _refuse_prompt, _report)
        return {name: _without_log((new / name).read_bytes()) for name in files}


def _without_log(data: bytes) -> bytes:
    content = bytearray(data)
    content[FORMAT_BYTES] = WITHOUT_LOG
    return bytes(content)


def _report(name: str, done: int, total: int) -> None:
    pass


def _refuse_prompt() -> str:
    raise AssertionError("the backup contains no key")
