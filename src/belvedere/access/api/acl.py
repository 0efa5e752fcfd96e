"""The four ACL doors of any record that has an ACL; tasks and workflows put them into the table."""

from collections.abc import Callable

import msgspec

from belvedere.access import acl
from belvedere.access.actor import Actor
from belvedere.access.api.records import AclRecord
from belvedere.access.request import AnyRequest, Request
from belvedere.base.errors import Fault, Invalid
from belvedere.db import Tx
from belvedere.rest.route import Route

# Raises NotFound unless this organization has such a record.
Find = Callable[[Tx, str, str], object]


class AclBody(msgspec.Struct):
    users: list[str] | None = None
    action: str = ""


def acl_routes(object: str, path: str, find: Find) -> tuple[Route, ...]:
    """GET, PUT, PATCH and DELETE of `path`, which ends in `{id}/acl`."""

    def shown(tx: Tx, actor: Actor, object_id: str) -> list[str]:
        find(tx, actor.customer_id, object_id)
        return acl.acl_of(tx, actor.customer_id, object, object_id)

    def replaced(tx: Tx, actor: Actor, object_id: str, users: list[str]) -> list[str]:
        find(tx, actor.customer_id, object_id)
        return acl.replace_acl(tx, actor, object, object_id, users)

    def changed(tx: Tx, actor: Actor, object_id: str, action: str, users: list[str]) -> list[str]:
        find(tx, actor.customer_id, object_id)
        return acl.change_acl(tx, actor, object, object_id, action, users)

    async def show(request: Request[None]) -> AclRecord:
        return _record(await request.services.db.read(shown, request.actor, request.path["id"]))

    async def replace(request: Request[AclBody]) -> AclRecord:
        users = _users(request)
        return _record(
            await request.services.db.write(replaced, request.actor, request.path["id"], users)
        )

    async def change(request: Request[AclBody]) -> AclRecord:
        action = (request.body.action if request.body else "") or request.first("action") or ""
        return _record(
            await request.services.db.write(
                changed, request.actor, request.path["id"], action, _users(request)
            )
        )

    async def clear(request: Request[None]) -> AclRecord:
        return _record(
            await request.services.db.write(replaced, request.actor, request.path["id"], [])
        )

    return (
        Route("GET", path, "manager", show, f"The ACL of a {object}", answer=AclRecord),
        Route(
            "PUT",
            path,
            "manager",
            replace,
            f"Replace the ACL of a {object}",
            body=AclBody,
            answer=AclRecord,
        ),
        Route(
            "PATCH",
            path,
            "manager",
            change,
            f"Add to the ACL of a {object}, or remove from it",
            body=AclBody,
            answer=AclRecord,
        ),
        Route("DELETE", path, "manager", clear, f"Empty the ACL of a {object}", answer=AclRecord),
    )


def _users(request: AnyRequest) -> list[str]:
    """From the body, or, as old clients do, from the query."""
    users: list[str] | None = request.body.users if request.body is not None else None
    if users is None:
        users = request.query.get("users[]", request.query.get("users"))
    if users is None:
        raise Invalid(
            "A new array of users is required; [] empties the ACL.",
            code="missing_users",
            faults=(Fault("users", "is missing"),),
        )
    return users


def _record(users: list[str]) -> AclRecord:
    return AclRecord(users, users)
