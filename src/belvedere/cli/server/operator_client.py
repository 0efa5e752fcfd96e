"""Requests of the operator: over the running server's Unix socket, else on its database."""

from urllib.parse import quote

from belvedere.cli.framework.command import Args, Record, option
from belvedere.client.errors import ServerUnreachable
from belvedere.client.http_client import Client

OPTIONS = (
    option("--data", metavar="DIR", help="the server's data folder (BELVEDERE_DATA)"),
    option("--database", metavar="URL", help="the server's database (BELVEDERE_DATABASE)"),
)


def call_operator(args: Args, path: str, payload: Record) -> Record:
    """Send the request to the running server; without one, run it on the database directly."""
    from belvedere import settings
    from belvedere.server import operator_socket

    server_settings = settings.load({"data": args.data, "database": args.database})
    socket_path = operator_socket.socket_path(server_settings).absolute()
    try:
        with Client(f"unix:{quote(str(socket_path))}") as client:
            response: Record = client.post(path, payload)
            return response
    except ServerUnreachable as fault:
        # A killed server leaves its socket behind. The database may be opened only if it is certain
        # that no server is running.
        if not isinstance(fault.__cause__, FileNotFoundError | ConnectionRefusedError):
            raise
    return operator_socket.offline(server_settings, path, payload)
