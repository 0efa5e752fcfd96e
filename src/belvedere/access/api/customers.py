"""The organization itself."""

import msgspec

from belvedere.access.api import records
from belvedere.access.api.doors import plain
from belvedere.access.customers import service
from belvedere.db import Tx
from belvedere.rest.route import Ask


class CustomerChange(msgspec.Struct, forbid_unknown_fields=True):
    """What is left out stays."""

    name: str | None = None
    inner_checks: bool | None = None
    # A level, or empty for none.
    second_factor_level: str | None = None
    # True: passwords are off.
    providers_only: bool | None = None


class HandOver(msgspec.Struct, forbid_unknown_fields=True):
    member_id: str


async def show(ask: Ask) -> records.CustomerRecord:
    return records.customer(await ask.house.db.read(service.find, ask.actor.customer_id))


async def change(ask: Ask) -> records.CustomerRecord:
    return records.customer(await ask.house.db.write(_change, ask))


def _change(tx: Tx, ask: Ask) -> service.Customer:
    wanted = ask.body
    if wanted.inner_checks is not None:
        service.allow_inner(tx, ask.actor, wanted.inner_checks)
    if wanted.second_factor_level is not None:
        service.ask_second_factor(tx, ask.actor, wanted.second_factor_level)
    if wanted.providers_only is not None:
        service.use_providers_only(tx, ask.actor, wanted.providers_only)
    if wanted.name is not None:
        return service.rename(tx, ask.actor, wanted.name, ask.house.reserved)
    return service.find(tx, ask.actor.customer_id)


async def disable(ask: Ask) -> records.CustomerRecord:
    confirm = ask.first("confirm") or ""
    return records.customer(await ask.house.db.write(service.disable, ask.actor, confirm))


async def hand_over(ask: Ask) -> records.MemberRecord:
    found = await ask.house.db.write(service.hand_over, ask.actor, ask.body.member_id)
    return records.member(found, ask.actor)


ROUTES = (
    plain(
        "GET",
        "/api/customer",
        "viewer",
        show,
        "This organization",
        answer=records.CustomerRecord,
        known=False,
    ),
    plain(
        "PUT",
        "/api/customer",
        "owner",
        change,
        "Rename the organization, forbid its monitors inner addresses, require a second factor,"
        " switch passwords off",
        body=CustomerChange,
        answer=records.CustomerRecord,
        codes=("name_taken", "second_factor_off", "no_other_way"),
        known=False,
        people=True,
    ),
    plain(
        "DELETE",
        "/api/customer",
        "owner",
        disable,
        "Disable the organization: all its credentials end, its records stay",
        answer=records.CustomerRecord,
        known=False,
        query=(("confirm", "the organization's name"),),
        people=True,
    ),
    plain(
        "PUT",
        "/api/customer/owner",
        "owner",
        hand_over,
        "Hand the ownership to another member",
        body=HandOver,
        answer=records.MemberRecord,
        codes=("already_owner", "not_active"),
        known=False,
        people=True,
    ),
)
