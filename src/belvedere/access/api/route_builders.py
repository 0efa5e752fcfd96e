"""Routes that several features build: without the organization in the path, and the endpoints of
any record that has an ACL or a secret key."""

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from belvedere.access import acl, anonymous_requests
from belvedere.access.acl import Acl
from belvedere.access.actor import Actor
from belvedere.access.api.records import AclRecord
from belvedere.access.limits.rate_limits import AttemptKind
from belvedere.access.request import AnyRequest, Request
from belvedere.base.errors import Fault, Invalid
from belvedere.db import Tx
from belvedere.rest.route import Route

# Raises NotFound unless this organization has such a record.
Find = Callable[[Tx, str, str], object]
# (tx, keys, actor, id) -> the key; to rotate it, with the seconds of the overlap too.
Operation = Callable[..., str]
# A route whose organization is always that of the caller.
plain_route = partial(Route, style="plain")


def anonymous_options(kind: AttemptKind) -> dict[str, Any]:
    """Options of anonymous routes with a body: it is small, and the limit of this kind for the
    address is checked first."""
    return {"admit": anonymous_requests.by_address(kind), "max_body": anonymous_requests.SMALL_BODY}


class AclBody(msgspec.Struct):
    users: list[str] | None = None
    action: str = ""


def acl_routes(object: str, path: str, find: Find) -> tuple[Route, ...]:
    """GET, PUT, PATCH and DELETE of `path`, which ends in `{id}/acl`."""

    def read_acl(tx: Tx, actor: Actor, object_id: str) -> Acl:
        find(tx, actor.customer_id, object_id)
        return acl.read_acl(tx, actor.customer_id, object, object_id)

    def replace_acl(tx: Tx, actor: Actor, object_id: str, users: list[str]) -> Acl:
        find(tx, actor.customer_id, object_id)
        acl.replace_acl(tx, actor, object, object_id, users)
        return acl.read_acl(tx, actor.customer_id, object, object_id)

    def change_acl(tx: Tx, actor: Actor, object_id: str, action: str, users: list[str]) -> Acl:
        find(tx, actor.customer_id, object_id)
        acl.change_acl(tx, actor, object, object_id, action, users)
        return acl.read_acl(tx, actor.customer_id, object, object_id)

    async def show(request: Request[None]) -> AclRecord:
        return _record(await request.services.db.read(read_acl, request.actor, request.path["id"]))

    async def replace(request: Request[AclBody]) -> AclRecord:
        users = _users(request)
        return _record(
            await request.services.db.write(replace_acl, request.actor, request.path["id"], users)
        )

    async def change(request: Request[AclBody]) -> AclRecord:
        action = (request.body.action if request.body else "") or request.first("action") or ""
        return _record(
            await request.services.db.write(
                change_acl, request.actor, request.path["id"], action, _users(request)
            )
        )

    async def clear(request: Request[None]) -> AclRecord:
        return _record(
            await request.services.db.write(replace_acl, request.actor, request.path["id"], [])
        )

    article = "an" if object[0] in "aeiou" else "a"
    return (
        Route(
            "GET", path, "manager", show, f"Show the ACL of {article} {object}", answer=AclRecord
        ),
        Route(
            "PUT",
            path,
            "manager",
            replace,
            f"Replace the ACL of {article} {object}",
            body=AclBody,
            answer=AclRecord,
        ),
        Route(
            "PATCH",
            path,
            "manager",
            change,
            f"Add to the ACL of {article} {object}, or remove from it",
            body=AclBody,
            answer=AclRecord,
        ),
        Route(
            "DELETE",
            path,
            "manager",
            clear,
            f"Empty the ACL of {article} {object}",
            answer=AclRecord,
        ),
    )


def _users(request: AnyRequest) -> list[str]:
    """From the body, or from the query, as some clients of TheEye send them."""
    users: list[str] | None = request.body.users if request.body is not None else None
    if users is None:
        users = request.query.get("users[]", request.query.get("users"))
    if users is None:
        raise Invalid(
            "A list of users is required. Use [] to empty the ACL.",
            code="missing_users",
            faults=(Fault("users", "is missing"),),
        )
    return users


def _record(entries: Acl) -> AclRecord:
    return AclRecord(entries.entries, entries.entries, entries.pending)


class SecretKeyRecord(msgspec.Struct):
    """The secret key of one record."""

    id: str
    secret: str


class RotateSecretBody(msgspec.Struct, forbid_unknown_fields=True):
    """For how many seconds the old key is still valid."""

    overlap: int = 0


def credential_routes(
    object: str,
    path: str,
    reveal: Operation,
    rotate: Operation,
    *,
    body: type[RotateSecretBody] = RotateSecretBody,
    from_interface: bool = True,
) -> tuple[Route, ...]:
    """GET of `path`, which ends in `{id}/credentials`, and POST of `path`/rotate.

    Further fields of `body` after the overlap are passed to `rotate` in their order.
    """

    async def read(request: Request[None]) -> SecretKeyRecord:
        object_id = request.path["id"]
        secret = await request.services.db.write(
            reveal, request.services.keyring, request.actor, object_id
        )
        return SecretKeyRecord(object_id, secret)

    async def change(request: Request[RotateSecretBody]) -> SecretKeyRecord:
        object_id, arguments = request.path["id"], msgspec.structs.astuple(request.body)
        secret = await request.services.db.write(
            rotate, request.services.keyring, request.actor, object_id, *arguments
        )
        return SecretKeyRecord(object_id, secret)

    return (
        Route(
            "GET",
            path,
            "admin",
            read,
            f"Read a {object}'s secret key; the access is audited",
            answer=SecretKeyRecord,
            from_interface=from_interface,
        ),
        Route(
            "POST",
            f"{path}/rotate",
            "admin",
            change,
            f"Rotate a {object}'s secret key",
            body=body,
            answer=SecretKeyRecord,
            from_interface=False,
        ),
    )
