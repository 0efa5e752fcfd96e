"""`belvedere up` and `belvedere server`: the words of the command line become settings."""

import os
from typing import Any

from belvedere import settings
from belvedere.base import secret_environment
from belvedere.cli.framework.command import Args, Option, Stop, Verb, option

# Passwords, tokens and keys come from the environment only: `ps` shows a command line.
LISTEN = ("host", "port", "url", "tls_cert", "tls_key")
TUNE = ("proxies", "origins", "inner_networks", "log_level")
METAVARS = {
    "data": "DIR",
    "database": "URL",
    "tls_cert": "FILE",
    "tls_key": "FILE",
    "proxies": "LIST",
    "origins": "LIST",
    "inner_networks": "LIST",
    "log_level": "LEVEL",
    "scripts_user": "USER",
}


def up(args: Args) -> int:
    from belvedere.server import main

    return main.up(_settings(args))


def serve(args: Args) -> int:
    from belvedere.server import main

    return main.serve(_settings(args))


def _settings(args: Args) -> settings.Settings:
    found = settings.load(vars(args))
    secret_environment.forget(settings.SECRETS)
    # Only the name of the file helps; the TLS library does not tell it.
    for name in ("tls_cert", "tls_key"):
        path = getattr(found, name)
        if path and not os.access(path, os.R_OK):
            raise Stop(f"--{name.replace('_', '-')}: {path} cannot be read.")
    return found


def _options(*names: str) -> tuple[Option, ...]:
    return tuple(_option(*row) for row in settings.TABLE if row[0] in names)


def _option(name: str, env: str, default: Any, about: str) -> Option:
    flag = name.replace("_", "-")
    if isinstance(default, bool):
        told = f"unless this is given, {about} ({env}=0)"
        return option(f"--no-{flag}", dest=name, action="store_false", default=None, help=told)
    kind = int if isinstance(default, int) else str
    told = f"{about} ({env})" if default == "" else f"{about} ({env}; default {default})"
    return option(f"--{flag}", metavar=METAVARS.get(name, flag.upper()), type=kind, help=told)


VERBS = (
    Verb(
        "up",
        up,
        "Start a server with one local agent, SQLite in the data folder. The first start makes an "
        "organization, its owner and a demo of everything, and prints the password once.",
        "belvedere up --data ./data --port 8420",
        options=_options("data", *LISTEN, "agent", "scripts_user", "demo", *TUNE),
        status=lambda _, answer: int(answer),
        is_remote=False,
        has_json=False,
    ),
    Verb(
        "server",
        serve,
        "Start a server. Any number of them can share one PostgreSQL database.",
        "belvedere server --database postgresql://belvedere@db/belvedere --host 0.0.0.0",
        options=_options("data", "database", *LISTEN, *TUNE),
        status=lambda _, answer: int(answer),
        is_remote=False,
        has_json=False,
    ),
)
