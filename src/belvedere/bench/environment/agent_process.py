"""An agent in a separate process next to the measured server, so that the cost of a check in the
agent can be separated from its cost in the server."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from belvedere.bench.environment import installation, private_server
from belvedere.bench.environment.installation import BenchTarget
from belvedere.bench.environment.private_server import PrivateServer
from belvedere.client.http_client import Client

NAME = "apart"


@contextmanager
def running_agent(server: PrivateServer, client: Client, name: str = NAME) -> Iterator[BenchTarget]:
    """Its host, once it is online. The agent stops here, its keeper with the server."""
    with (server.folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "belvedere.cli.main", "agent", "--server", server.url]
            + ["--state", str(server.folder / name), "--hostname", name],
            env={
                **private_server.clean_environment(),
                "BELVEDERE_ENROLMENT_TOKEN": _enrolment_token(server),
            },
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield BenchTarget(client, installation.await_host(client, name))
    finally:
        process.terminate()
        try:
            process.wait(private_server.STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _enrolment_token(server: PrivateServer) -> str:
    """Issued by the owner: an integration token cannot enrol hosts."""
    with Client(server.url, customer=private_server.CUSTOMER) as owner:
        credentials = {"email": private_server.EMAIL, "password": server.password}
        owner.token = owner.post("/api/auth/login", credentials)["access_token"]
        return str(owner.post("/api/enrolment", {"name": NAME})["token"])
