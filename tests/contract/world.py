"""The server of the contract tests, with its members, their tokens and hosts."""

from dataclasses import dataclass, replace
from typing import Any

import msgspec

from belvedere.access import Actor, Keyring
from belvedere.access.credentials import enrolment, tokens
from belvedere.db import Tx
from belvedere.hosts.service import Enrolment, enrol
from belvedere.server.agents.endpoint import serve
from belvedere.server.http.app import App
from belvedere.server.runtime import ServerRuntime
from belvedere.server.transport.direct_response import respond
from belvedere.tasks import service as tasks
from belvedere.tasks.bodies import TaskBody
from contract.client import Client
from contract.conformity import Conformity
from contract.fakeagent import FakeAgent, hello
from people import ADDRESS, Actors

SOURCE = "#!/bin/sh\necho hello\n"


@dataclass(frozen=True)
class InitialObjects:
    """The data that exists before a test begins."""

    hosts: dict[str, Enrolment]
    # Integration tokens, by organization.
    integration: dict[str, str]


def create_objects(tx: Tx, keys: Keyring, actors: Actors) -> InitialObjects:
    owners = {"acme": actors.ada, "globex": actors.eve}
    places = {"web-1": actors.ada, "web-2": actors.ada, "box-1": actors.eve}
    initial_objects = InitialObjects(
        hosts={name: _enrol(tx, keys, actor, name) for name, actor in places.items()},
        integration={
            name: tokens.create_token(tx, keys, actor, f"token of {name}")[1]
            for name, actor in owners.items()
        },
    )
    # Whoever creates a token gets a notification; inboxes are empty when a test begins.
    tx.execute("delete from events where kind = 'token.created'")
    return initial_objects


def _enrol(tx: Tx, keys: Keyring, actor: Actor, hostname: str) -> Enrolment:
    _, text = enrolment.create_enrolment(tx, keys, actor)
    return enrol(tx, keys, text, hostname, f"machine-of-{hostname}", ADDRESS)


def make_task(tx: Tx, keys: Keyring, actor: Actor, fields: dict[str, Any]) -> str:
    view, _ = tasks.create(tx, keys, actor, msgspec.convert(fields, TaskBody))
    return view.id


@dataclass(frozen=True)
class World:
    """A server, and everyone who calls it."""

    runtime: ServerRuntime
    app: App
    actors: Actors
    things: InitialObjects
    conformity: Conformity

    def client(self, who: str = "", **more: Any) -> Client:
        """By the name of a member, `token`, `stranger`, or of a host for its agent."""
        return Client(self.app, self.credential(who), check=self.conformity, **more)

    def credential(self, who: str) -> str:
        if who in self.actors.tokens:
            return self.actors.tokens[who]
        if who in self.things.hosts:
            return self.things.hosts[who].token
        return {"token": self.things.integration["acme"], "": ""}[who]

    def agent(self, hostname: str = "web-1", **more: Any) -> FakeAgent:
        return FakeAgent(self.app, self.things.hosts[hostname].token, hello(hostname, **more))

    async def task(self, name: str = "echo", *, by: str = "ada", **fields: Any) -> str:
        """Create a script task on web-1 that everyone in acme may see; other fields as given."""
        new_fields: dict[str, Any] = {
            "name": name,
            "type": "script",
            "hostname": "box-1" if by == "eve" else "web-1",
            "script": {"filename": f"{name}.sh", "source": SOURCE},
            "acl": [] if by == "eve" else ["uma", "vic", "max"],
            **fields,
        }
        if new_fields["type"] not in ("script", "scraper"):
            del new_fields["hostname"], new_fields["script"]
        actor = getattr(self.actors, by)
        return await self.runtime.db.write(make_task, self.runtime.keyring, actor, new_fields)

    def beside(self, runtime: ServerRuntime) -> "World":
        """The same people at another server with the same database."""
        return replace(self, runtime=runtime, app=App(runtime, runtime.router, serve, respond))


def open_world(runtime: ServerRuntime, actors: Actors, initial_objects: InitialObjects) -> World:
    app = App(runtime, runtime.router, serve, respond)
    return World(runtime, app, actors, initial_objects, Conformity(runtime.router))
