"""Credentials that must not appear anywhere, in every place where people enter them."""

from typing import Any

from belvedere.base.text.secret_forms import encoded_forms
from belvedere.db import Database, Tx
from belvedere.server import routes
from contract.client import Client
from contract.world import World

# No form of it contains the word that the log check of the contract tests searches for.
CANARY = "c4nary-Zq9/vW!x8"
HEADERS = {
    "Authorization": f"Bearer {CANARY}",
    "X-Api-Key": CANARY,
    "X-Company-Key": CANARY,
    "cookie": f"session={CANARY}",
    "Proxy-Authorization": CANARY,
    "X-Auth": CANARY,
    "Accept": "text/html",
    "Referer": f"https://user:{CANARY.replace('/', '%2F')}@shop.test/",
}
QUOTED = "c4nary-Zq9%2FvW%21x8"
REQUEST: dict[str, Any] = {
    "url": f"https://user:{QUOTED}@shop.test/x?page=1&api_key={QUOTED}&clientSecret={QUOTED}",
    "method": "POST",
    "headers": HEADERS,
    "body": f'{{"page": 1, "login": {{"password": "{CANARY}"}}, "tokens": ["{CANARY}"]}}',
}
FORMS = sorted(encoded_forms(CANARY) | {QUOTED.encode()})


def leaks(data: bytes) -> list[bytes]:
    return [form for form in FORMS if form in data]


def targets(ids: list[str]) -> list[str]:
    """The addresses of every route that only reads, once with each id."""
    items = []
    for route in routes.ROUTES:
        if route.method != "GET" or "text/event-stream" in route.media:
            continue
        path = route.path if route.style == "plain" else f"/acme{route.path}"
        query = "?q=c4nary" if path.endswith("/search") else ""
        if "{id}" in path:
            items += [path.replace("{id}", item) for item in ids]
        else:
            items.append(path + query)
    return [item for item in items if "{" not in item]


async def read_everything(clients: dict[str, Client], ids: list[str]) -> list[str]:
    """Where one of these people saw the canary."""
    include = "include[task]=1&include[task_arguments_values]=1&include[output]=1"
    texts = [*targets(ids), f"/acme/job?{include}&include[result]=1", "/api/audit?limit=1000"]
    items = []
    for name, client in clients.items():
        for target in texts:
            answer = await client.get(target)
            assert answer.status < 500, target
            if leaks(answer.body):
                items.append(f"{name} {target}")
    return items


def people(world: World) -> dict[str, Client]:
    return {name: world.client(name) for name in ("vic", "uma", "max", "ada")}


def rows_with_canary(db: Database) -> list[str]:
    """Tables of the database, read byte by byte, that contain the canary."""

    def look(tx: Tx) -> list[str]:
        return [name for name in _tables(tx) if leaks(_content(tx, name))]

    return db.write_blocking(look)


def _tables(tx: Tx) -> list[str]:
    sql = (
        "select name from sqlite_master where type = 'table'"
        if tx.dialect.name == "sqlite"
        else "select table_name from information_schema.tables where table_schema = 'public'"
    )
    return [name for (name,) in tx.rows(sql)]


def _content(tx: Tx, table: str) -> bytes:
    cells = (cell for row in tx.rows(f"select * from {table}") for cell in row)
    return b"\0".join(
        bytes(cell) if isinstance(cell, bytes | memoryview) else str(cell).encode()
        for cell in cells
    )
