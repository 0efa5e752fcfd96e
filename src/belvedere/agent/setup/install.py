"""Installing the agent as a service: enrol, store the program, write the systemd unit."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import belvedere
from belvedere.agent import state_folder
from belvedere.agent.setup import enrolment
from belvedere.agent.setup.enrolment import UPDATE_RECORD, CannotEnrol, Unreachable
from belvedere.agent.setup.settings import LOG_FORMATS, LOG_LEVELS, AgentSettings
from belvedere.agent.state_folder import StateFolder

NAME = "belvedere-agent"
# Where systemd runs the machine.
RUNNING = Path("/run/systemd/system")
UNIT = """\
[Unit]
Description=Belvedere agent
After=network-online.target
Wants=network-online.target

[Service]
ExecStart={command}
Restart=always
RestartSec=1
LimitNOFILE=65536
# Only the agent itself is stopped: its keeper and the running scripts stay, and the next agent
# adopts them.
KillMode=process
OOMPolicy=continue

[Install]
WantedBy={target}
"""


def install(settings: AgentSettings) -> int:
    """Install and start the service, also at boot; 1 if the host could not be enrolled."""
    os.umask(0o022)
    if settings.is_unprotected:
        print(
            f"{NAME}: the connection to {settings.server} is not encrypted: others on the network"
            " can read it and run scripts on this host; use an https:// address.",
            file=sys.stderr,
        )
    state = state_folder.prepare(settings.state)
    try:
        credential = enrolment.load_saved(settings, state)
        if credential is None:
            credential = enrolment.enrol(settings, state, enrolment.tls_context(settings))
    except (CannotEnrol, Unreachable) as fault:
        print(f"{NAME}: {settings.server}: {fault}", file=sys.stderr)
        return 1
    unit = (Path(settings.units) if settings.units else _units()) / f"{NAME}.service"
    unit.parent.mkdir(parents=True, exist_ok=True)
    _replace(unit, unit_text(_program(state), settings).encode(), 0o644)
    print(f"The host {credential.hostname} is enrolled; its service is {unit}.")
    if not settings.units:
        _start()
    return 0


def _is_root() -> bool:
    return os.geteuid() == 0


def _units() -> Path:
    if _is_root():
        return Path("/etc/systemd/system")
    return Path.home() / ".config/systemd/user"


def _program(state: StateFolder) -> list[str]:
    """The command of this agent: a copy of the single file, or the installed package."""
    archive = Path(belvedere.__file__).parent.parent
    if not archive.is_file():
        return [sys.executable, "-m", "belvedere.agent"]
    content = archive.read_bytes()
    mark = hashlib.sha256(content).hexdigest()[:12]
    # A running agent still reads its own file: a newer one must not replace it.
    path = Path(state.root) / "program" / f"{NAME}-{mark}.pyz"
    path.parent.mkdir(exist_ok=True)
    _replace(path, content, 0o755)
    # An installation by hand ends an update, also if it installs the same file as before.
    (path.parent / UPDATE_RECORD).unlink(missing_ok=True)
    return [sys.executable, "-I", str(path)]


def _replace(path: Path, content: bytes, mode: int) -> None:
    """Replace the file atomically."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_bytes(content)
    fresh.chmod(mode)
    fresh.rename(path)


def unit_text(program: list[str], settings: AgentSettings) -> str:
    words = [*program, "--server", settings.server, "--state", os.path.abspath(settings.state)]
    words += ["--hostname", settings.hostname, "--slots", str(settings.slots)]
    if settings.tls_ca:
        words += ["--tls-ca", os.path.abspath(settings.tls_ca)]
    if not settings.updates:
        words.append("--no-updates")
    if settings.log_level != LOG_LEVELS[0]:
        words += ["--log-level", settings.log_level]
    if settings.log_format != LOG_FORMATS[0]:
        words += ["--log-format", settings.log_format]
    return UNIT.format(
        command=" ".join(map(quoted, words)),
        target="multi-user.target" if _is_root() else "default.target",
    )


def quoted(word: str) -> str:
    """Quoted for systemd, where % and $ have a special meaning."""
    plain = word.replace("%", "%%").replace("$", "$$")
    if re.fullmatch(r"[A-Za-z0-9_@%+=:,./$-]+", plain):
        return plain
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _start() -> None:
    """Start the service now and at boot; a restart does not affect running scripts."""
    asks = ["systemctl"] if _is_root() else ["systemctl", "--user"]
    service = f"{NAME}.service"
    if shutil.which("systemctl") is None or not RUNNING.exists():
        print("systemd is not running: start the command in that file another way.")
        return
    for words in (["daemon-reload"], ["enable", service], ["restart", service]):
        if subprocess.run([*asks, *words]).returncode != 0:
            print(f"The service could not be started; run: {' '.join([*asks, 'status', service])}")
            return
    print("The service is running and starts at boot.")
