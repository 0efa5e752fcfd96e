"""A server without an organization."""

import asyncio
import re
from typing import Any

import pytest

from belvedere.db import Database
from belvedere.server.agents.endpoint import serve
from belvedere.server.http.app import App
from belvedere.server.runtime import ServerRuntime
from belvedere.server.setup import setup_code
from contract.client import Client, Response
from contract.conformity import Conformity
from contract.world import World
from people import PASSWORD


@pytest.fixture
def anonymous(runtime: ServerRuntime) -> Client:
    """An anonymous client of a server without an organization."""
    return Client(App(runtime, runtime.router, serve), check=Conformity(runtime.router))


def offer(runtime: ServerRuntime) -> str:
    code = runtime.db.write_blocking(setup_code.offer, runtime.keyring)
    assert code is not None
    return code


async def set_up(client: Client, code: str, **more: Any) -> Response:
    body = {"organization": "initech", "email": "bill@initech.test", "password": PASSWORD}
    return await client.post("/-/setup", {"code": code, **body, **more})


async def is_setup_needed(client: Client) -> bool:
    response: bool = (await client.get("/-/setup")).json["needed"]
    return response


async def test_a_new_server_is_set_up_with_its_code(
    anonymous: Client, runtime: ServerRuntime, quick_passwords: None
) -> None:
    assert await is_setup_needed(anonymous)
    code = offer(runtime)
    assert re.fullmatch(r"([A-Z2-9]{4}-){3}[A-Z2-9]{4}", code)
    done = await set_up(anonymous, code)
    assert done.status == 201, done.body
    assert "set-cookie" in done.headers
    owner = Client(anonymous.app, done.json["access_token"])
    profile = (await owner.get("/api/session/profile")).json
    assert (profile["email"], profile["credential"]) == ("bill@initech.test", "owner")
    assert profile["current_customer"]["name"] == "initech"
    assert not await is_setup_needed(anonymous)


async def test_the_code_is_read_as_people_type_it(
    anonymous: Client, runtime: ServerRuntime, quick_passwords: None
) -> None:
    code = offer(runtime)
    assert (await set_up(anonymous, f" {code.lower().replace('-', ' ')} ")).status == 201


async def test_the_setup_works_only_once(
    anonymous: Client, runtime: ServerRuntime, quick_passwords: None
) -> None:
    first, second = offer(runtime), offer(runtime)
    assert (await set_up(anonymous, first)).status == 201
    for code in (first, second):
        late = await set_up(anonymous, code, organization="other", email="eve@other.test")
        assert (late.status, late.code) == (409, "already_set_up")
    assert runtime.db.write_blocking(setup_code.offer, runtime.keyring) is None


async def test_one_of_two_concurrent_setups_succeeds(
    anonymous: Client, runtime: ServerRuntime, quick_passwords: None
) -> None:
    codes = offer(runtime), offer(runtime)
    done = await asyncio.gather(
        *(
            set_up(anonymous, code, organization=f"org{n}", email=f"a@org{n}.test")
            for n, code in enumerate(codes)
        )
    )
    assert sorted(item.status for item in done) == [201, 409]


async def test_a_wrong_code_is_refused(anonymous: Client, runtime: ServerRuntime) -> None:
    for code in ("", "AAAA-AAAA-AAAA-AAAA"):
        refused = await set_up(anonymous, code)
        assert (refused.status, refused.code) == (403, "bad_code")
    offer(runtime)
    assert (await set_up(anonymous, "AAAA-AAAA-AAAA-AAAA")).code == "bad_code"
    assert await is_setup_needed(anonymous)


async def test_guesses_are_stopped(anonymous: Client, runtime: ServerRuntime) -> None:
    offer(runtime)
    codes = [(await set_up(anonymous, "AAAA-AAAA-AAAA-AAAA")).status for _ in range(25)]
    assert codes[-1] == 429


@pytest.mark.parametrize(
    "wrong",
    [{"password": "short"}, {"organization": "api"}, {"organization": ""}, {"email": "nobody"}],
)
async def test_a_refused_setup_does_not_use_the_code(
    anonymous: Client, runtime: ServerRuntime, quick_passwords: None, wrong: dict[str, str]
) -> None:
    code = offer(runtime)
    assert (await set_up(anonymous, code, **wrong)).status == 400
    assert await is_setup_needed(anonymous)
    assert (await set_up(anonymous, code)).status == 201


async def test_a_server_with_an_organization_needs_no_setup(world: World, db: Database) -> None:
    assert not await is_setup_needed(world.client())
    assert (await set_up(world.client(), "x")).code == "already_set_up"
