"""Settings of the agent: options, environment variables, defaults."""

import argparse
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from belvedere.agent import disk_space
from belvedere.base import log_format
from belvedere.base.networks import is_loopback

MIN_FREE_BYTES, MIN_FREE_INODES = "BELVEDERE_MIN_FREE_BYTES", "BELVEDERE_MIN_FREE_INODES"
ACTIONS = ("run", "install")
TOKEN_VARIABLE = "BELVEDERE_ENROLMENT_TOKEN"
LOG_LEVEL = "BELVEDERE_LOG_LEVEL"
LOG_LEVELS, LOG_FORMATS = ("info", "debug", "warning", "error"), ("text", "json")


@dataclass(frozen=True, slots=True)
class AgentSettings:
    server: str
    state: str
    hostname: str
    # The enrolment token; needed until the agent has its own credential.
    token: str = ""
    slots: int = 16
    tls_ca: str = ""
    action: str = "run"
    units: str = ""
    # All scripts run as this user; empty: as the user of their task.
    scripts_user: str = ""
    # With less free space in the state folder the host accepts no work.
    min_free_bytes: int = disk_space.MIN_FREE_BYTES
    min_free_inodes: int = disk_space.MIN_FREE_INODES
    # Whether the server may update this agent.
    updates: bool = True
    log_level: str = LOG_LEVELS[0]
    log_format: str = LOG_FORMATS[0]

    @property
    def is_unprotected(self) -> bool:
        """Plain HTTP to another machine."""
        parts = urlsplit(self.server)
        return parts.scheme == "http" and not is_loopback(parts.hostname or "")


def default_state() -> str:
    if os.geteuid() == 0:
        return "/var/lib/belvedere-agent"
    return str(Path.home() / ".local/state/belvedere-agent")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `belvedere agent`."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=ACTIONS,
        default="run",
        help="run here (the default), or install: enrol, write a systemd unit and start it",
    )
    parser.add_argument("--server", required=True, help="address of the server, https://…")
    parser.add_argument("--token", help="enrolment token; visible in ps, so prefer --token-file")
    parser.add_argument("--token-file", help="file with the enrolment token; - is standard input")
    parser.add_argument("--state", default=default_state(), help="folder for journal and output")
    parser.add_argument("--hostname", default=socket.gethostname(), help="name of this host")
    parser.add_argument(
        "--slots", type=_slots, default=16, help="maximum number of scripts to run at once"
    )
    parser.add_argument(
        "--tls-ca", default="", help="PEM file of the certificate authorities to trust"
    )
    parser.add_argument(
        "--no-updates",
        dest="updates",
        action="store_false",
        help="do not accept new versions of the agent from the server",
    )
    parser.add_argument(
        "--log-level",
        metavar="LEVEL",
        help=f"debug (adds the start and end of each job), info, warning or error ({LOG_LEVEL})",
    )
    parser.add_argument(
        "--log-format",
        metavar="FORM",
        help=f"text, or json: one JSON object per line ({log_format.VARIABLE}; default text)",
    )
    parser.add_argument("--units", default="", help="install: only write the unit, to this folder")


def _slots(text: str) -> int:
    count = int(text)
    if not 1 <= count <= 1_000:
        raise argparse.ArgumentTypeError("must be 1 to 1000")
    return count


def read(arguments: argparse.Namespace, environ: Mapping[str, str]) -> AgentSettings:
    """The settings; ValueError with a message for invalid values."""
    server = arguments.server.rstrip("/")
    if not server.startswith(("http://", "https://")):
        raise ValueError("The address of the server must begin with http:// or https://.")
    return AgentSettings(
        server=server,
        state=arguments.state,
        hostname=arguments.hostname,
        token=_token(arguments, environ),
        slots=arguments.slots,
        tls_ca=arguments.tls_ca,
        action=arguments.action,
        units=arguments.units,
        updates=arguments.updates,
        log_level=_choice(arguments.log_level, environ, LOG_LEVEL, LOG_LEVELS),
        log_format=_choice(arguments.log_format, environ, log_format.VARIABLE, LOG_FORMATS),
        min_free_bytes=_number(environ, MIN_FREE_BYTES, disk_space.MIN_FREE_BYTES),
        min_free_inodes=_number(environ, MIN_FREE_INODES, disk_space.MIN_FREE_INODES),
    )


def _choice(
    option: str | None, environ: Mapping[str, str], name: str, values: Sequence[str]
) -> str:
    """The option, the variable, or the first value."""
    text = (option or environ.get(name, "") or values[0]).lower()
    if text not in values:
        raise ValueError(f"{name} is {text!r}; it must be one of: {', '.join(values)}.")
    return text


def _number(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name, "")
    if text and not (text.isascii() and text.isdecimal() and len(text) <= 18):
        raise ValueError(f"{name} is {text!r}; it must be a whole number, 0 to switch it off.")
    return int(text) if text else default


def _token(arguments: argparse.Namespace, environ: Mapping[str, str]) -> str:
    if arguments.token_file == "-":
        return sys.stdin.readline().strip()
    if arguments.token_file:
        try:
            return Path(arguments.token_file).read_text().strip()
        except OSError as fault:
            raise ValueError(f"The token file cannot be read: {fault}.") from None
    return str(arguments.token or environ.get(TOKEN_VARIABLE, ""))


def parse(argv: Sequence[str], environ: Mapping[str, str]) -> AgentSettings:
    parser = argparse.ArgumentParser(prog="belvedere agent", description="Runs jobs on this host.")
    add_options(parser)
    try:
        return read(parser.parse_args(argv), environ)
    except ValueError as fault:
        parser.error(str(fault))
