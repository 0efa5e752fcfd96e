"""Requests that would pass: for every door a body that fits, and ids that are there."""

from dataclasses import dataclass, field
from typing import Any

from belvedere import hosts
from belvedere.access import Actor, Level, enrolment, invitations, recovery, secret_keys, tokens
from belvedere.db import Tx
from belvedere.jobs import queue
from belvedere.jobs.create import NewJob, create
from belvedere.rest.route import Route
from belvedere.server.house import House
from cast import PASSWORD, Cast
from contract.fakeagent import hello
from contract.matrix import Principal, Which
from contract.world import Things, make_task

MISSING, MALFORMED = "0" * 24, "z" * 24
WHO = {
    "viewer": "vic",
    "user": "uma",
    "manager": "max",
    "admin": "ada",
    "owner": "olga",
    "admin of another organization": "eve",
}


@dataclass
class Place:
    """One of each kind in an organization."""

    ids: dict[str, str] = field(default_factory=dict)
    secret: str = ""


@dataclass
class Estate:
    """Both organizations, and the texts that open what is anonymous."""

    acme: Place
    globex: Place
    tokens: dict[str, str]
    texts: dict[str, str]


def settle(tx: Tx, house: House, cast: Cast, things: Things) -> Estate:
    """Everything that a door could name, in both organizations."""
    keys, ada = house.keys, cast.ada
    expired, expired_text = tokens.create_token(tx, keys, ada, "expired", 1)
    tx.run("update tokens set expires_at = ? where id = ?", tx.now - 1, expired.id)
    revoked, revoked_text = tokens.create_token(tx, keys, ada, "revoked")
    tokens.revoke(tx, ada, revoked.id)
    _, reset = recovery.issue_link(tx, keys, cast.olga, cast.vic.member_id)
    invited = invitations.invite(tx, keys, ada, "new@acme.test", "", Level.VIEWER, [])
    return Estate(
        _place(tx, house, ada, cast.vic, things, "web-1"),
        _place(tx, house, cast.eve, cast.eve, things, "box-1"),
        tokens={
            **{name: cast.tokens[who] for name, who in WHO.items()},
            "anonymous": "",
            "bad token": "bvt_" + "x" * 43,
            "expired token": expired_text,
            "revoked token": revoked_text,
            "integration token": things.integration["acme"],
            "agent": things.hosts["web-1"].token,
            "agent of another host": things.hosts["web-2"].token,
        },
        texts={
            "reset": reset,
            "invitation": invited.token,
            "enrolment": enrolment.create_enrolment(tx, keys, ada)[1],
            "member": cast.uma.member_id,
        },
    )


def _place(tx: Tx, house: House, by: Actor, somebody: Actor, things: Things, host: str) -> Place:
    """A task with a running job, its file, a member, a token, an enrolment, the organization."""
    source = {"filename": f"secret-of-{host}.sh", "source": "#!/bin/sh\n"}
    acl = ["vic", "uma", "max"] if host == "web-1" else []
    fields = {"name": f"secret of {host}", "type": "script", "hostname": host, "acl": acl}
    task_id = make_task(tx, house.keys, by, {**fields, "script": source})
    host_id = things.hosts[host].host_id
    session = hosts.connect(tx, host_id, hello(host), "192.0.2.7")
    (made,) = create(tx, [NewJob(by, task_id, [])])
    assert not isinstance(made, Exception)
    assert len(queue.claim(tx, host_id, session)) == 1
    return Place(
        {
            "task": task_id,
            "job": made.job.id,
            "file": made.job.script_id or "",
            "host": host_id,
            "member": somebody.member_id,
            "token": tokens.create_token(tx, house.keys, by, "theirs")[0].id,
            "enrolment": enrolment.create_enrolment(tx, house.keys, by)[0].id,
            "customer": by.customer_id,
        },
        secret_keys.reveal(tx, house.keys, by, "task", task_id),
    )


def noun(route: Route) -> str:
    """What the id in a door's path is the id of."""
    before = route.path.partition("/{id}")[0].split("/")[-1]
    return "file" if before == "script" else before


def home(estate: Estate, principal: Principal) -> tuple[str, Place, Place]:
    """The organization of whoever asks: its name, it, and the other one."""
    if principal.name.endswith("organization"):
        return "globex", estate.globex, estate.acme
    return "acme", estate.acme, estate.globex


def address(
    route: Route, estate: Estate, cast: Cast, principal: Principal, which: Which, *, v1: bool
) -> str:
    """The path, and what must stand in the query."""
    customer, here, there = home(estate, principal)
    name = "task" if route.path == "/job/secret/{secret}" else noun(route)
    stranger = cast.ada if customer == "globex" else cast.eve
    # Sessions are the one thing that belongs to a person, not to the organization.
    mine: Actor = getattr(cast, WHO.get(principal.name, "ada"))
    known = {
        Which.OWN: here.ids.get(name, mine.credential_id),
        Which.OTHER: there.ids.get(name, stranger.credential_id),
        Which.MISSING: MISSING,
        Which.MALFORMED: MALFORMED,
    }
    path = route.path.replace("{id}", known[which]).replace("{secret}", here.secret)
    if v1:
        path = f"/{customer}{path}"
    if "{secret}" in route.path:
        return f"{path}?customer={customer}&task={known[which]}"
    return f"{path}?q=x" if path.endswith("/search") else path


def bodies(estate: Estate, here: Place) -> dict[str, Any]:
    """For every door that reads a body, one that it accepts."""
    login = {"email": "uma@acme.test", "password": PASSWORD}
    file = {"filename": "a.sh", "source": "x"}
    return {
        "POST /api/auth/login": login,
        "POST /api/auth/login/local": login,
        "POST /api/auth/password/recover": {"email": "uma@acme.test"},
        "PUT /api/auth/password/reset": {"token": estate.texts["reset"], "password": PASSWORD},
        "POST /api/auth/password/change": {"current": PASSWORD, "password": PASSWORD},
        "POST /api/auth/link": {"token": estate.texts["invitation"]},
        "POST /api/auth/invitation": {"token": estate.texts["invitation"], "password": PASSWORD},
        "POST /api/member": {"user": {"email": "another@elsewhere.test"}},
        "PATCH /api/member/{id}": {"tags": ["team:blue"]},
        "POST /api/token": {"name": "new"},
        "POST /api/enrolment": {},
        "PUT /api/customer": {"name": "renamed"},
        "PUT /api/customer/owner": {"member_id": estate.texts["member"]},
        "POST /-/enrol": {
            "token": estate.texts["enrolment"],
            "hostname": "new-1",
            "fingerprint": "machine-of-new-1",
        },
        "PATCH /host/{id}": {"tags": ["blue"]},
        "POST /file": file,
        "PUT /file/{id}": file,
        "PUT /file/{id}/upload": {"source": "y"},
        "POST /task": {"name": "new", "type": "dummy"},
        "PUT /task/{id}": {"name": "new"},
        "PATCH /task/{id}": {"description": "new"},
        "PUT /api/task/{id}/timeout": {"timeout": 5_000},
        "POST /task/{id}/credentials/rotate": {},
        "PUT /task/{id}/acl": {"users": []},
        "PATCH /task/{id}/acl": {"users": ["uma"], "action": "add"},
        "POST /job": {"task": here.ids["task"]},
        "POST /task/{id}/job": {},
        "POST /job/secret/{secret}": {},
        "POST /task/{id}/secret/{secret}/job": {},
        "PUT /job/{id}/input": {"args": []},
        "PUT /job/{id}/resolve": {"outcome": "success"},
        "PUT /job/{id}/restart": {},
        "PUT /job/{id}": {"result": {"state": "success", "data": {"code": 0}}},
    }
