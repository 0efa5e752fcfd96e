"""The bare cost: what it takes to start the script from Python and to wait for it."""

import subprocess
import time
from pathlib import Path

SCRIPT = "#!/bin/sh\nexit 0\n"


def script(folder: Path) -> Path:
    path = folder / "bare.sh"
    path.write_text(SCRIPT)
    path.chmod(0o700)
    return path


def measure(path: Path, runs: int) -> list[float]:
    """Seconds of each run."""
    command = [str(path)]
    times: list[float] = []
    for _ in range(runs):
        began = time.perf_counter()
        subprocess.Popen(command, stdin=subprocess.DEVNULL).wait()
        times.append(time.perf_counter() - began)
    return times
