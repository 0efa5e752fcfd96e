"""`belvedere job files --save`: complete under its own name, or not at all."""

import hashlib
from pathlib import Path

import pytest

import cli_records
from cli.conftest import Belvedere
from fake_server import CannedResponse, FakeServer

PATH = f"/job/{cli_records.JOB_ID}/files"
CONTENT = b"some bytes"
FOUND = {
    "name": "report.txt",
    "size": len(CONTENT),
    "sha256": hashlib.sha256(CONTENT).hexdigest(),
    "complete": True,
}


def save(belvedere: Belvedere, folder: Path) -> tuple[int, str]:
    ran = belvedere("job", "files", cli_records.JOB_ID, "--save", str(folder))
    return ran.status, ran.err


def test_files_of_a_job_are_saved_and_not_overwritten(
    belvedere: Belvedere, server: FakeServer, tmp_path: Path
) -> None:
    server.on("GET", PATH, [FOUND])
    server.on("GET", f"{PATH}/report.txt", CannedResponse(raw=[CONTENT]))
    status, _ = save(belvedere, tmp_path / "got")
    assert status == 0
    assert (tmp_path / "got" / "report.txt").read_bytes() == CONTENT
    # An existing file is not overwritten.
    status, file_id = save(belvedere, tmp_path / "got")
    assert status == 1 and "already exists" in file_id


def test_an_incomplete_download_is_deleted(
    belvedere: Belvedere, server: FakeServer, tmp_path: Path
) -> None:
    server.on("GET", PATH, [FOUND])
    server.on("GET", f"{PATH}/report.txt", CannedResponse(raw=[CONTENT[:4]]))
    status, file_id = save(belvedere, tmp_path)
    assert status == 1 and "incomplete or damaged" in file_id
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "..", "a/b"])
def test_a_server_cannot_choose_where_it_lands(
    belvedere: Belvedere, server: FakeServer, tmp_path: Path, name: str
) -> None:
    server.on("GET", PATH, [{**FOUND, "name": name}])
    status, file_id = save(belvedere, tmp_path / "got")
    assert status == 1 and "not a valid file name" in file_id
    assert not (tmp_path / "evil").exists()
