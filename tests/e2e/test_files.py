"""Artifacts of a script, from its folder to the person who downloads them."""

import hashlib
import os
from pathlib import Path

from e2e.programs import TOKEN, run
from e2e.site import Site
from e2e.wait_until import until

SOURCE = """#!/bin/sh
cd "$BELVEDERE_FILES" || exit 9
head -c 300000 /dev/urandom > data.bin
sha256sum data.bin
echo fine > report.txt
ln -s /etc/passwd passwd
"""


def test_files_of_a_script_are_downloaded(site: Site, tmp_path: Path) -> None:
    job = site.run(SOURCE)
    assert job["state"] == "normal" and job["result"]["files"] == 2
    assert job["result"]["files_skipped"] == [{"name": "passwd", "reason": "link"}]
    text = site.world.log(job["id"]).split()[0].decode()
    process = run(
        *("job", "files", job["id"], "--save", str(tmp_path / "got")),
        BELVEDERE_SERVER=site.world.url,
        BELVEDERE_TOKEN=TOKEN,
        BELVEDERE_CUSTOMER="main",
    )
    assert process.returncode == 0, process.stderr
    assert sorted(os.listdir(tmp_path / "got")) == ["data.bin", "report.txt"]
    data = (tmp_path / "got" / "data.bin").read_bytes()
    assert len(data) == 300_000 and hashlib.sha256(data).hexdigest() == text
    assert (tmp_path / "got" / "report.txt").read_text() == "fine\n"
    # The server has them: nothing of it remains on the host.
    site.is_empty()
    until(lambda: os.listdir(site.agent.state / "files") == [], 20)


def test_files_survive_an_agent_that_dies_before_sending_them(site: Site, tmp_path: Path) -> None:
    go = tmp_path / "go"
    source = (
        '#!/bin/sh\necho there\nwhile [ ! -e "$1" ]; do sleep 0.05; done\n'
        'echo late > "$BELVEDERE_FILES/late.txt"\n'
    )
    job_id = site.start(source, str(go))
    site.says(job_id, b"there")
    site.world.proxy.cut()
    go.touch()
    until(lambda: os.listdir(site.agent.state / "files") != [], 30)
    site.agent.kill()
    site.world.proxy.mend()
    site.agent.start(site.world.url)
    assert site.world.wait_ended(job_id)["result"]["files"] == 1
    with site.world.api.open(f"/job/{job_id}/files/late.txt") as response:
        assert response.read() == b"late\n"
