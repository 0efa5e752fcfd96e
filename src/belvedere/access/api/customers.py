"""The caller's organization."""

import msgspec

from belvedere.access.api import records
from belvedere.access.api.route_builders import plain_route
from belvedere.access.customers import history_limits, service
from belvedere.access.customers.history_limits import HistoryChange
from belvedere.access.request import AnyRequest, Request
from belvedere.db import Tx


class CustomerChange(msgspec.Struct, forbid_unknown_fields=True):
    """Fields that are left out do not change."""

    name: str | None = None
    inner_checks: bool | None = None
    # A level, or empty for none.
    second_factor_level: str | None = None
    # True: passwords are off.
    providers_only: bool | None = None
    # The ended jobs that tasks without limits of their own keep.
    history: HistoryChange | None = None


class HandOver(msgspec.Struct, forbid_unknown_fields=True):
    member_id: str


async def show(request: Request[None]) -> records.CustomerRecord:
    return records.customer(await request.services.db.read(service.find, request.actor.customer_id))


async def change(request: Request[CustomerChange]) -> records.CustomerRecord:
    return records.customer(await request.services.db.write(_change, request))


def _change(tx: Tx, request: AnyRequest) -> service.Customer:
    body = request.body
    if body.inner_checks is not None:
        service.allow_internal_checks(tx, request.actor, body.inner_checks)
    if body.second_factor_level is not None:
        service.require_second_factor(tx, request.actor, body.second_factor_level)
    if body.providers_only is not None:
        service.use_providers_only(tx, request.actor, body.providers_only)
    if body.history is not None:
        history_limits.change(tx, request.actor, body.history)
    if body.name is not None:
        return service.rename(tx, request.actor, body.name, request.services.reserved)
    return service.find(tx, request.actor.customer_id)


async def disable(request: Request[None]) -> records.CustomerRecord:
    confirm = request.first("confirm") or ""
    return records.customer(
        await request.services.db.write(service.disable, request.actor, confirm)
    )


async def hand_over(request: Request[HandOver]) -> records.MemberRecord:
    owner = await request.services.db.write(
        service.hand_over, request.actor, request.body.member_id
    )
    return records.member(owner, request.actor)


ROUTES = (
    plain_route(
        "GET",
        "/api/customer",
        "viewer",
        show,
        "Show the organization",
        answer=records.CustomerRecord,
        from_interface=False,
    ),
    plain_route(
        "PUT",
        "/api/customer",
        "owner",
        change,
        "Rename the organization, forbid monitors of private addresses, require a second factor,"
        " turn passwords off, set how many finished jobs are kept",
        body=CustomerChange,
        answer=records.CustomerRecord,
        codes=("name_taken", "second_factor_off", "no_other_way"),
        from_interface=False,
        people=True,
    ),
    plain_route(
        "DELETE",
        "/api/customer",
        "owner",
        disable,
        "Disable the organization: its credentials stop working, its records are kept",
        answer=records.CustomerRecord,
        from_interface=False,
        query=(("confirm", "the organization's name"),),
        people=True,
    ),
    plain_route(
        "PUT",
        "/api/customer/owner",
        "owner",
        hand_over,
        "Transfer the ownership to another member",
        body=HandOver,
        answer=records.MemberRecord,
        codes=("already_owner", "not_active"),
        from_interface=False,
        people=True,
    ),
)
