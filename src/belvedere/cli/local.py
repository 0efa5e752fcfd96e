"""What only the operator may do: through the running server's own socket, else by its database."""

import socket
from pathlib import Path
from typing import Any
from urllib.parse import quote

from belvedere.cli.verb import Args, option
from belvedere.client.calls import Client

OPTIONS = (
    option("--data", metavar="DIR", help="the server's data folder (BELVEDERE_DATA)"),
    option("--database", metavar="URL", help="the server's database (BELVEDERE_DATABASE)"),
)


def ask_operator(args: Args, path: str, payload: dict[str, Any]) -> Any:
    """The running server does it; when none runs, this process opens the database itself."""
    from belvedere.server import operator, settings

    found = settings.load({"data": args.data, "database": args.database})
    door = operator.socket_path(found)
    if not is_open(door):
        return operator.offline(found, path, payload)
    with Client(f"unix:{quote(str(door.absolute()))}") as client:
        return client.post(path, payload)


def is_open(door: Path) -> bool:
    """Whether somebody answers there; a server that was killed leaves its socket behind."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as knock:
        return knock.connect_ex(str(door)) == 0
