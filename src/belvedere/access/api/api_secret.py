"""The two doors of any record that has a secret key: read it, change it."""

from collections.abc import Callable

import msgspec

from belvedere.access.request import Request
from belvedere.rest.route import Route

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

    async def read(request: Request[None]) -> Credentials:
        object_id = request.path["id"]
        secret = await request.services.db.write(
            reveal, request.services.keyring, request.actor, object_id
        )
        return Credentials(object_id, secret)

    async def change(request: Request[RotateBody]) -> Credentials:
        object_id, wanted = request.path["id"], msgspec.structs.astuple(request.body)
        secret = await request.services.db.write(
            rotate, request.services.keyring, request.actor, object_id, *wanted
        )
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
