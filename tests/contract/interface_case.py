"""One row of interface.md in one URL style, by the lowest level that is allowed."""

from dataclasses import dataclass, field, replace
from typing import Any

from contract.client import NOTHING, Client, Response
from contract.interface import ROWS
from contract.world import World

WHO = {
    "viewer": "vic",
    "user": "uma",
    "manager": "max",
    "admin": "ada",
    "agent": "web-1",
    "anonymous": "",
}


@dataclass
class CaseContext:
    world: World
    row: str
    # V1: the organization in the path; else in the query.
    v1: bool
    answered: list[str] = field(default_factory=list)

    @property
    def ada(self) -> Client:
        """Prepares what a row needs."""
        return self.world.client("ada")

    @property
    def uma(self) -> Client:
        return self.world.client("uma")

    async def play(self, body: Any = NOTHING, *, query: str = "", **more: Any) -> Response:
        """The row's own request; `more` completes its path, or is passed to the client."""
        method, path = self.row.split(" ")
        for name in ("id", "secret", "title"):
            path = path.replace(f"{{{name}}}", more.pop(name, ""))
        texts = [query] if query else []
        target = f"/acme{path}" if self.v1 else path
        if not self.v1:
            texts.append("customer=acme")
        client = replace(self.world.client(WHO[ROWS[self.row]]), check=self._note)
        return await client.request(method, f"{target}?{'&'.join(texts)}", body, **more)

    def _note(self, method: str, target: str, answer: Response) -> None:
        self.world.conformity(method, target, answer)
        assert answer.status == 200, f"{method} {target}: {answer.status} {answer.body!r}"
        match = self.world.runtime.router.match(method, target.partition("?")[0].encode())
        assert (match.customer is not None) is self.v1
        self.answered.append(f"{method} {match.route.path}")
