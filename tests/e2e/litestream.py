"""The real Litestream, and a real server that speaks S3, as processes of a test."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from e2e.programs import Program, environment
from e2e.wait_until import until

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "litestream.md"
PROGRAMS = Path(sys.executable).parent
LITESTREAM, RCLONE = str(PROGRAMS / "litestream"), str(PROGRAMS / "rclone")
ACCESS_KEY, SECRET_KEY = "key", "secret-of-the-test"
# Values on the page.
DATA, ENDPOINT, BUCKET = "/var/lib/belvedere", "https://s3.example.org", "backups"
FILES = ("belvedere.db", "logs.db")


class S3(Program):
    """`rclone serve s3` over a folder; its subfolders are the buckets."""

    def __init__(self, folder: Path) -> None:
        (folder / BUCKET).mkdir(parents=True)
        words = ("serve", "s3", "--addr", "127.0.0.1:0", "--config", os.devnull)
        keys = ("--auth-key", f"{ACCESS_KEY},{SECRET_KEY}")
        super().__init__((*words, *keys, str(folder)), folder.with_name("rclone.log"))
        self.command = (RCLONE,)

    def start(self) -> str:
        """Its address."""
        self.launch()
        pattern = re.compile(r"server on \[(\S+?)/\]")
        [address] = until(lambda: pattern.findall(self.read_log()), 20)
        return str(address)


class Litestream(Program):
    """With the configuration of the how-to page, for other folders and addresses."""

    def __init__(self, folder: Path, data: Path, s3_url: str) -> None:
        folder.mkdir()
        self._data, self._socket = data, folder / "control.sock"
        self._config = folder / "litestream.yml"
        self._config.write_text(
            f"{_page_config().replace(DATA, str(data)).replace(ENDPOINT, s3_url)}"
            f"socket:\n  enabled: true\n  path: {self._socket}\n"
        )
        keys = {
            "LITESTREAM_ACCESS_KEY_ID": ACCESS_KEY,
            "LITESTREAM_SECRET_ACCESS_KEY": SECRET_KEY,
            # It cannot use the certificate authorities of this variable.
            "AWS_CA_BUNDLE": "",
        }
        super().__init__(("replicate", "-config", str(self._config)), folder / "log", **keys)
        self.command = (LITESTREAM,)

    def start(self) -> None:
        self.launch()
        until(self._socket.exists, 20, self.read_log)

    def wait_synced(self) -> None:
        """Wait until everything that is committed now is in the bucket."""
        for name in FILES:
            self._call("sync", "-wait", "-socket", str(self._socket), str(self._data / name))

    def restore(self, folder: Path) -> None:
        folder.mkdir(mode=0o700)
        for name in FILES:
            words = ("-config", str(self._config), "-o", str(folder / name))
            self._call("restore", *words, str(self._data / name))
            (folder / name).chmod(0o600)

    def _call(self, *words: str) -> None:
        done = subprocess.run(
            [LITESTREAM, *words],
            env=environment(**self.env),
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, (done, self.read_log())

    def end(self) -> None:
        if self.is_running:
            self.stop(signal.SIGKILL)


def _page_config() -> str:
    match = re.search(r"^( *)```yaml\n(.*?)^ *```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert match is not None
    return re.sub(f"^{match[1]}", "", match[2], flags=re.MULTILINE)
