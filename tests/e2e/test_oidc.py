"""Sign-in through a real provider: another process, real HTTP, through the egress worker."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from belvedere.client.errors import Problem
from e2e.programs import CUSTOMER
from e2e.world import World

TESTS = Path(__file__).parents[1]
ADA = {"sub": "s-ada", "email": "ada@acme.test", "email_verified": True, "name": "Ada"}
SECRET = "s3cret of the client"


class Provider:
    """The small provider of these tests, in its process."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.issuer = self._set_person(ADA)

    def knows(self, **person: object) -> None:
        """The person who signs in there next."""
        assert self._set_person({**ADA, **person}) == "done"

    def _set_person(self, person: dict[str, object]) -> str:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(person) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()


@contextmanager
def run_provider() -> Iterator[Provider]:
    with subprocess.Popen(
        [sys.executable, "-m", "providers.openid_server"],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Provider(process)
        finally:
            process.kill()


class Browser:
    """Follows redirects from one server to the other, with the cookies of each."""

    def __init__(self) -> None:
        self.cookies: dict[str, dict[str, str]] = {}
        self.been: list[str] = []

    def go(self, url: str) -> str:
        """Where it ends: the first page below /ui/, or no redirect."""
        for _ in range(6):
            parts = urlsplit(url)
            if parts.path.startswith("/ui/"):
                return url
            url = self._step(url, parts.netloc)
        raise AssertionError(self.been)

    def _step(self, url: str, host: str) -> str:
        parts = urlsplit(url)
        jar = self.cookies.setdefault(host, {})
        # Each page leads to the next one, as the console's own link does.
        body = {"Sec-Fetch-Site": "same-origin"}
        if jar:
            body["Cookie"] = "; ".join(f"{k}={v}" for k, v in jar.items())
        line = HTTPConnection(host, timeout=30)
        try:
            line.request("GET", f"{parts.path}?{parts.query}", headers=body)
            answer = line.getresponse()
            text = answer.read()
        finally:
            line.close()
        assert answer.status == 302, (url, answer.status, text)
        self.been.append(f"{parts.path}")
        for baked in answer.headers.get_all("set-cookie") or ():
            name, _, value = baked.partition(";")[0].partition("=")
            jar[name] = value
        location: str = answer.headers["location"]
        return urljoin(url, location)


@pytest.fixture
def local_world(tmp_path: Path) -> Iterator[World]:
    """A server that may call this machine."""
    with World(tmp_path, BELVEDERE_INNER_NETWORKS="127.0.0.0/8") as world:
        world.start()
        yield world


def test_a_person_signs_in_with_a_provider(local_world: World) -> None:
    with run_provider() as provider, local_world.person() as owner:
        body = {"name": "Ours", "issuer": provider.issuer, "client_id": "belvedere"}
        more = {"client_secret": SECRET, "level": "user", "domains": ["acme.test"]}
        response = owner.post("/api/provider", {**body, **more})
        with local_world.client("") as anonymous:
            (entry,) = anonymous.get("/api/auth/methods")["providers"]
        assert (entry["id"], entry["name"]) == (response["id"], "Ours")
        ada = Browser()
        end = ada.go(f"{local_world.url}{entry['begin']}?to=/ui/{CUSTOMER}/jobs")
        assert end == f"{local_world.url}/ui/{CUSTOMER}/jobs"
        assert ada.been == [
            entry["begin"],
            "/realm/authorize",
            f"/-/oidc/{response['id']}/callback",
        ]
        token = ada.cookies[urlsplit(local_world.url).netloc]["belvedere"]
        with local_world.client(token) as client:
            who = client.get("/api/session/profile")
            assert (who["email"], who["credential"], who["name"]) == (ADA["email"], "user", "Ada")
        provider.knows(sub="s-eve", email="eve@evil.test")
        assert (
            Browser()
            .go(f"{local_world.url}{entry['begin']}")
            .endswith("?problem=email_not_allowed")
        )
        provider.knows(sub="s-eve")
        assert Browser().go(f"{local_world.url}{entry['begin']}").endswith("?problem=subject_bound")
        owner.delete(f"/api/provider/{response['id']}")
        with local_world.client(token) as client, pytest.raises(Problem) as caught:
            client.get("/api/session/profile")
        assert caught.value.status == 401
    assert SECRET not in local_world.server.read_log()


def test_an_internal_provider_needs_a_setting_of_the_operator(world: World) -> None:
    world.start()
    with run_provider() as provider, world.person() as owner:
        body = {"name": "Ours", "issuer": provider.issuer, "client_id": "belvedere"}
        with pytest.raises(Problem) as caught:
            owner.post("/api/provider", body)
    assert caught.value.code == "provider_unreachable"
    assert "internal network" in caught.value.message
