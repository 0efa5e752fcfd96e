"""Cells of the access matrix, written by hand: what must never be allowed."""

import pytest

from contract import valid_requests
from contract.client import Client
from contract.fixtures_all_kinds import AllKinds, settle
from contract.rollback_database import dry
from contract.world import World

BODY = {"name": "x", "users": [], "timeout": 1, "outcome": "success", "task_arguments": []}

# Who, what, and the only correct statuses. {task}, {job} and the like belong to acme.
NEVER: tuple[tuple[str, str, str, int], ...] = (
    # Anonymous clients see nothing.
    ("anonymous", "GET", "/acme/task", 401),
    ("anonymous", "GET", "/acme/job", 401),
    ("anonymous", "GET", "/acme/job/{job}", 401),
    ("anonymous", "GET", "/acme/job/{job}/log", 401),
    ("anonymous", "POST", "/acme/job", 401),
    ("anonymous", "GET", "/acme/host", 401),
    ("anonymous", "GET", "/api/member", 401),
    ("anonymous", "GET", "/-/events", 401),
    ("anonymous", "PUT", "/acme/job/{job}", 401),
    ("anonymous", "GET", "/acme/file/{file}/download", 401),
    ("bad token", "GET", "/acme/task", 401),
    ("expired token", "GET", "/acme/task", 401),
    ("revoked token", "GET", "/acme/task", 401),
    ("revoked token", "DELETE", "/acme/task/{task}", 401),
    # Viewers read, and start or change nothing.
    ("viewer", "POST", "/acme/job", 403),
    ("viewer", "POST", "/acme/task/{task}/job", 403),
    ("viewer", "PUT", "/acme/job/{job}/cancel", 403),
    ("viewer", "PUT", "/acme/job/{job}/restart", 403),
    ("viewer", "PUT", "/acme/job/{job}/resolve", 403),
    ("viewer", "GET", "/acme/task/{task}/acl", 403),
    ("viewer", "GET", "/acme/file", 403),
    # Users run tasks, and define nothing.
    ("user", "POST", "/acme/task", 403),
    ("user", "PATCH", "/acme/task/{task}", 403),
    ("user", "PUT", "/acme/task/{task}/acl", 403),
    ("user", "GET", "/acme/task/{task}/credentials", 403),
    ("user", "DELETE", "/acme/job/finished", 403),
    ("user", "GET", "/acme/script/{file}/download", 403),
    ("user", "POST", "/api/member", 403),
    # Managers see people and lists, not secrets and definitions.
    ("manager", "GET", "/acme/task/{task}/credentials", 403),
    ("manager", "DELETE", "/acme/task/{task}", 403),
    ("manager", "POST", "/api/token", 403),
    ("manager", "GET", "/api/audit", 403),
    ("manager", "DELETE", "/acme/host/{host}", 403),
    # Admins are not owners, and only an agent is an agent.
    ("admin", "DELETE", "/api/customer", 403),
    ("admin", "PUT", "/api/customer", 403),
    ("admin", "PUT", "/api/customer/owner", 403),
    ("admin", "PUT", "/acme/job/{job}", 403),
    ("owner", "PUT", "/acme/job/{job}", 403),
    # A leaked token cannot make itself permanent.
    ("integration token", "POST", "/api/token", 403),
    ("integration token", "POST", "/api/enrolment", 403),
    ("integration token", "DELETE", "/api/member/{member}", 403),
    ("integration token", "DELETE", "/api/customer", 403),
    ("integration token", "PUT", "/api/session/refresh", 403),
    # An agent may call its own routes only.
    ("agent", "GET", "/acme/task", 403),
    # The same path is the agent's request for jobs, if it has registered over HTTP.
    ("agent", "GET", "/acme/job", 409),
    ("agent", "POST", "/acme/job", 403),
    ("agent", "GET", "/acme/task/{task}/credentials", 403),
    ("agent", "GET", "/api/member", 403),
    ("agent", "GET", "/-/events", 403),
    ("agent of another host", "PUT", "/acme/job/{job}", 403),
    ("agent of another host", "GET", "/acme/script/{file}/download", 404),
    # Another organization's admin finds nothing here.
    ("admin of another organization", "GET", "/acme/task", 403),
    ("admin of another organization", "GET", "/job/{job}?customer=acme", 403),
    ("admin of another organization", "GET", "/job/{job}", 404),
    ("admin of another organization", "GET", "/job/{job}/log", 404),
    ("admin of another organization", "GET", "/task/{task}", 404),
    ("admin of another organization", "DELETE", "/task/{task}", 404),
    ("admin of another organization", "GET", "/task/{task}/credentials", 404),
    ("admin of another organization", "GET", "/file/{file}/download", 404),
    ("admin of another organization", "GET", "/host/{host}", 404),
    ("admin of another organization", "DELETE", "/api/token/{token}", 404),
    ("admin of another organization", "DELETE", "/api/member/{member}", 404),
    ("admin of another organization", "PUT", "/api/session/customer/{customer}", 403),
    ("admin of another organization", "PUT", "/job/{job}/cancel", 404),
)


async def test_forbidden_requests_are_refused(world: World) -> None:
    fixtures: AllKinds = await world.runtime.db.write(
        settle, world.runtime, world.actors, world.things
    )
    dry(world.runtime)
    wrong = []
    for who, method, path, expected in NEVER:
        client = Client(world.app, fixtures.tokens[who], hangs_up=True, check=world.conformity)
        body = valid_requests.bodies(fixtures, fixtures.acme).get(f"{method} {path}", BODY)
        answer = await client.request(method, path.format(**fixtures.acme.ids), body)
        if answer.status != expected:
            wrong.append(f"{method} {path} as {who}: {answer.status}, not {expected}")
    assert wrong == []


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_there_are_enough_of_them(world: World) -> None:
    assert len(set(NEVER)) == len(NEVER) >= 40
