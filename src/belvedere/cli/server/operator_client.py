"""What only the operator may do: through the running server's own socket, else by its database."""

from typing import Any
from urllib.parse import quote

from belvedere.cli.framework.command import Args, option
from belvedere.client.errors import ServerUnreachable
from belvedere.client.http_client import Client

OPTIONS = (
    option("--data", metavar="DIR", help="the server's data folder (BELVEDERE_DATA)"),
    option("--database", metavar="URL", help="the server's database (BELVEDERE_DATABASE)"),
)


def ask_operator(args: Args, path: str, payload: dict[str, Any]) -> Any:
    """The running server does it; when none runs, this process opens the database itself."""
    from belvedere import settings
    from belvedere.server import operator_socket as operator

    found = settings.load({"data": args.data, "database": args.database})
    door = operator.socket_path(found).absolute()
    try:
        with Client(f"unix:{quote(str(door))}") as client:
            return client.post(path, payload)
    except ServerUnreachable as fault:
        # A server that was killed leaves its socket behind; only one that is gone for certain
        # may be passed by.
        if not isinstance(fault.__cause__, FileNotFoundError | ConnectionRefusedError):
            raise
    return operator.offline(found, path, payload)
