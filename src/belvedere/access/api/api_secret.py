"""The two doors of any record that has a secret key: read it, change it."""

from collections.abc import Callable

import msgspec

from belvedere.rest.route import Ask, Route

# (tx, keys, actor, id) -> the key; and the same with the seconds of the overlap.
Verb = Callable[..., str]


class Credentials(msgspec.Struct):
    """A secret key; it opens the one record that it belongs to."""

    id: str
    secret: str


class RotateBody(msgspec.Struct, forbid_unknown_fields=True):
    """For how many seconds the old key still works."""

    overlap: int = 0


def credential_routes(
    object: str,
    path: str,
    reveal: Verb,
    rotate: Verb,
    *,
    body: type[RotateBody] = RotateBody,
    known: bool = True,
) -> tuple[Route, ...]:
    """GET of `path`, which ends in `{id}/credentials`, and POST of `path`/rotate.

    What `body` has beside the overlap goes to `rotate` in its order.
    """

    async def read(ask: Ask) -> Credentials:
        object_id = ask.path["id"]
        secret = await ask.house.db.write(reveal, ask.house.keys, ask.actor, object_id)
        return Credentials(object_id, secret)

    async def change(ask: Ask) -> Credentials:
        object_id, wanted = ask.path["id"], msgspec.structs.astuple(ask.body)
        secret = await ask.house.db.write(rotate, ask.house.keys, ask.actor, object_id, *wanted)
        return Credentials(object_id, secret)

    return (
        Route(
            "GET",
            path,
            "admin",
            read,
            f"Read a {object}'s secret key; the reading is audited",
            answer=Credentials,
            known=known,
        ),
        Route(
            "POST",
            f"{path}/rotate",
            "admin",
            change,
            f"Change a {object}'s secret key",
            body=body,
            answer=Credentials,
            known=False,
        ),
    )
