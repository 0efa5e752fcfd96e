"""`belvedere up` and `belvedere server`: start a server with settings from the command line."""

import os

from belvedere import settings
from belvedere.base import secret_environment
from belvedere.cli.framework.command import Args, Command, CommandError, CommandOption, option

# Passwords, tokens and keys come from the environment only: `ps` shows a command line.
LISTEN = ("host", "port", "url", "tls_cert", "tls_key", "metrics_listen")
TUNE = ("proxies", "origins", "inner_networks", "log_level", "log_format")
METAVARS = {
    "data": "DIR",
    "database": "URL",
    "tls_cert": "FILE",
    "tls_key": "FILE",
    "proxies": "LIST",
    "origins": "LIST",
    "inner_networks": "LIST",
    "log_level": "LEVEL",
    "log_format": "FORM",
    "metrics_listen": "ADDRESS",
    "scripts_user": "USER",
}


def up(args: Args) -> int:
    from belvedere.server import main

    return main.up(_settings(args))


def serve(args: Args) -> int:
    from belvedere.server import main

    return main.serve(_settings(args))


def _settings(args: Args) -> settings.Settings:
    server_settings = settings.load(vars(args))
    secret_environment.remove(settings.SECRETS)
    # The error of the TLS library does not name the file.
    for name in ("tls_cert", "tls_key"):
        path = getattr(server_settings, name)
        if path and not os.access(path, os.R_OK):
            raise CommandError(f"--{name.replace('_', '-')}: cannot read {path}.")
    return server_settings


def _options(*names: str) -> tuple[CommandOption, ...]:
    return tuple(_option(*row) for row in settings.TABLE if row[0] in names)


def _option(name: str, env: str, default: object, about: str) -> CommandOption:
    flag = name.replace("_", "-")
    if isinstance(default, bool):
        text = f"do not {about.removeprefix('`up`: ')} ({env}=0)"
        return option(f"--no-{flag}", dest=name, action="store_false", default=None, help=text)
    kind = int if isinstance(default, int) else str
    text = f"{about} ({env})" if default == "" else f"{about} ({env}; default {default})"
    return option(f"--{flag}", metavar=METAVARS.get(name, flag.upper()), type=kind, help=text)


COMMANDS = (
    Command(
        "up",
        up,
        "Start a server with a local agent and SQLite in the data folder. The first start creates "
        "an organization, its owner and demo objects, and prints the password once.",
        "belvedere up --data ./data --port 8420",
        options=_options("data", *LISTEN, "agent", "scripts_user", "demo", *TUNE),
        status=lambda _, answer: int(answer),
        is_remote=False,
        has_json=False,
    ),
    Command(
        "server",
        serve,
        "Start a server. Any number of servers can share a PostgreSQL database.",
        "belvedere server --database postgresql://belvedere@db/belvedere --host 0.0.0.0",
        options=_options("data", "database", *LISTEN, *TUNE),
        status=lambda _, answer: int(answer),
        is_remote=False,
        has_json=False,
    ),
)
