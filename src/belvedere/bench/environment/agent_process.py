"""An agent in a process of its own beside the server that is measured: so what a check costs it can
be told from what it costs the server."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from belvedere.bench.environment import installation, private_server
from belvedere.bench.environment.installation import Site
from belvedere.bench.environment.private_server import Private
from belvedere.client.http_client import Client

NAME = "apart"


@contextmanager
def agent(server: Private, client: Client) -> Iterator[Site]:
    """Its host, once it is there. The agent ends here, its keeper with the server."""
    with (server.folder / f"{NAME}.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "belvedere.cli.main", "agent", "--server", server.url]
            + ["--state", str(server.folder / NAME), "--hostname", NAME],
            env={
                **private_server.clean_environment(),
                "BELVEDERE_ENROLMENT_TOKEN": _permission(server),
            },
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield Site(client, installation.await_host(client, NAME))
    finally:
        process.terminate()
        try:
            process.wait(private_server.STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _permission(server: Private) -> str:
    """Only people may let hosts in."""
    with Client(server.url, customer=private_server.CUSTOMER) as owner:
        told = {"email": private_server.EMAIL, "password": server.password}
        owner.token = owner.post("/api/auth/login", told)["access_token"]
        return str(owner.post("/api/enrolment", {"name": NAME})["token"])
