"""Identity and operating system of the machine."""

import hashlib
import os
import platform
import secrets
from pathlib import Path

from belvedere.agent.state_folder import StateFolder


def fingerprint(folder: StateFolder, hostname: str) -> str:
    """Stable for this machine and host name, and different on a copy of the machine."""
    text = f"{_machine_id(folder)}:{hostname}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _machine_id(folder: StateFolder) -> str:
    for path in (Path("/etc/machine-id"), Path(folder.root) / "machine-id"):
        try:
            machine_id = path.read_text().strip()
        except OSError:
            continue
        if machine_id:
            return machine_id
    machine_id = secrets.token_hex(16)
    fd = os.open(f"{folder.root}/machine-id", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(fd, "w") as file:
        file.write(machine_id)
    return machine_id


def system() -> tuple[str, str]:
    """Name and version of the operating system."""
    try:
        release = platform.freedesktop_os_release()
        return release.get("NAME", "Linux"), release.get("VERSION_ID", "")
    except OSError:
        return platform.system(), platform.release()
