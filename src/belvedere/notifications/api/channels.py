"""Channels, rules and messages over HTTP."""

from belvedere.egress.messages import Outcome
from belvedere.notifications import service, store
from belvedere.notifications.api import records as record
from belvedere.notifications.api.records import (
    ChannelRecord,
    Credentials,
    MessageRecord,
    RuleRecord,
)
from belvedere.notifications.bodies import ChannelBody, RuleBody
from belvedere.notifications.delivery import dispatcher, messages
from belvedere.notifications.model import ChannelRow, RuleRow
from belvedere.rest import listing as filters
from belvedere.rest import pagination, text_fields
from belvedere.rest.response_budget import heavy_read
from belvedere.rest.route import Ask, Reply, Route
from belvedere.rest.searches import run_search

# Channels


async def list_channels(ask: Ask) -> Reply:
    listing = filters.read(ask.query, store.CHANNELS)
    rows, total = await run_search(ask, service.listed, ChannelRow, ask.actor, listing)
    return pagination.answer(ask, listing, [record.channel(row, ask.actor) for row in rows], total)


async def show_channel(ask: Ask) -> ChannelRecord:
    row = await ask.house.db.read(service.show, ChannelRow, ask.actor, ask.path["id"])
    return record.channel(row, ask.actor)


async def create_channel(ask: Ask) -> Reply:
    if ask.body.url is None:
        raise text_fields.bad("url", "This is required.")
    checked = await _checked(ask, ask.body.url)
    row = await ask.house.db.write(
        service.create_channel, ask.house.keys, ask.actor, ask.body, checked
    )
    return Reply(record.channel(row, ask.actor), 201)


async def change_channel(ask: Ask) -> ChannelRecord:
    body, house = ask.body, ask.house
    # Asked first: whoever may not see the channel must not learn anything of an address either.
    await house.db.read(service.show, ChannelRow, ask.actor, ask.path["id"])
    checked = None if body.url is None else await _checked(ask, body.url)
    row = await house.db.write(
        service.change_channel, house.keys, ask.actor, ask.path["id"], body, checked, ask.if_match
    )
    return record.channel(row, ask.actor)


async def _checked(ask: Ask, url: str) -> Outcome:
    checked: Outcome = await ask.house.couriers.of(ask.actor.customer_id).check(
        text_fields.prose("url", url, most=4_096)
    )
    if checked.fault:
        raise text_fields.bad("url", checked.fault)
    return checked


async def delete_channel(ask: Ask) -> ChannelRecord:
    row = await ask.house.db.write(service.delete_channel, ask.actor, ask.path["id"])
    return record.channel(row, ask.actor)


async def test_channel(ask: Ask) -> Reply:
    house = ask.house
    message = await house.db.write(service.begin_test, ask.actor, ask.path["id"])
    sent = await dispatcher.send(house.db, house.keys, house.couriers, message)
    return Reply(record.message(sent), 201)


async def reveal(ask: Ask) -> Credentials:
    channel_id = ask.path["id"]
    secret = await ask.house.db.write(service.reveal, ask.house.keys, ask.actor, channel_id)
    return Credentials(channel_id, secret)


async def rotate(ask: Ask) -> Reply:
    channel_id = ask.path["id"]
    secret = await ask.house.db.write(service.rotate, ask.house.keys, ask.actor, channel_id)
    return Reply(Credentials(channel_id, secret), 201)


# Rules


async def list_rules(ask: Ask) -> Reply:
    listing = filters.read(ask.query, store.RULES)
    rows, total = await run_search(ask, service.listed, RuleRow, ask.actor, listing)
    return pagination.answer(ask, listing, [record.rule(row, ask.actor) for row in rows], total)


async def show_rule(ask: Ask) -> RuleRecord:
    row = await ask.house.db.read(service.show, RuleRow, ask.actor, ask.path["id"])
    return record.rule(row, ask.actor)


async def create_rule(ask: Ask) -> Reply:
    row = await ask.house.db.write(service.create_rule, ask.actor, ask.body)
    return Reply(record.rule(row, ask.actor), 201)


async def change_rule(ask: Ask) -> RuleRecord:
    row = await ask.house.db.write(
        service.change_rule, ask.actor, ask.path["id"], ask.body, ask.if_match
    )
    return record.rule(row, ask.actor)


async def delete_rule(ask: Ask) -> RuleRecord:
    row = await ask.house.db.write(service.delete_rule, ask.actor, ask.path["id"])
    return record.rule(row, ask.actor)


# Messages


async def list_messages(ask: Ask) -> Reply:
    listing = filters.read(ask.query, messages.MESSAGES)
    listing = await run_search(ask, messages.fitted, ask.actor.customer_id, listing)
    async with heavy_read(ask, listing.size):
        found, total = await run_search(ask, service.list_messages, ask.actor, listing)
        records = [record.message(one) for one in found]
    return pagination.answer(ask, listing, records, total)


async def show_message(ask: Ask) -> MessageRecord:
    found = await ask.house.db.read(messages.find, ask.actor.customer_id, ask.path["id"])
    return record.message(found)


async def retry(ask: Ask) -> MessageRecord:
    return record.message(await ask.house.db.write(service.retry, ask.actor, ask.path["id"]))


def _row(method: str, path: str, handler: object, summary: str, **more: object) -> Route:
    return Route(method, path, "admin", handler, summary, known=False, **more)  # type: ignore[arg-type]


_CHANNEL, _RULE, _MESSAGE = "/notify/channel", "/notify/rule", "/notify/message"

ROUTES: tuple[Route, ...] = (
    _row(
        "GET",
        _CHANNEL,
        list_channels,
        "List channels",
        answer=list[ChannelRecord],
        query=pagination.QUERY,
    ),
    _row(
        "POST", _CHANNEL, create_channel, "Make a channel", body=ChannelBody, answer=ChannelRecord
    ),
    _row("GET", f"{_CHANNEL}/{{id}}", show_channel, "Show a channel", answer=ChannelRecord),
    _row(
        "PATCH",
        f"{_CHANNEL}/{{id}}",
        change_channel,
        "Change parts of a channel",
        body=ChannelBody,
        answer=ChannelRecord,
        codes=("stale",),
    ),
    _row(
        "DELETE",
        f"{_CHANNEL}/{{id}}",
        delete_channel,
        "Delete a channel with its messages",
        answer=ChannelRecord,
        codes=("channel_in_use",),
    ),
    _row(
        "POST",
        f"{_CHANNEL}/{{id}}/test",
        test_channel,
        "Send a test message now; the answer says whether it was taken",
        answer=MessageRecord,
        codes=("channel_disabled",),
    ),
    _row(
        "GET",
        f"{_CHANNEL}/{{id}}/credentials",
        reveal,
        "Read the secret that signs a webhook's calls; the reading is audited",
        answer=Credentials,
        codes=("not_signed",),
    ),
    _row(
        "POST",
        f"{_CHANNEL}/{{id}}/credentials/rotate",
        rotate,
        "Change that secret",
        answer=Credentials,
        codes=("not_signed",),
    ),
    _row("GET", _RULE, list_rules, "List rules", answer=list[RuleRecord], query=pagination.QUERY),
    _row("POST", _RULE, create_rule, "Make a rule", body=RuleBody, answer=RuleRecord),
    _row("GET", f"{_RULE}/{{id}}", show_rule, "Show a rule", answer=RuleRecord),
    _row(
        "PATCH",
        f"{_RULE}/{{id}}",
        change_rule,
        "Change parts of a rule",
        body=RuleBody,
        answer=RuleRecord,
        codes=("stale",),
    ),
    _row("DELETE", f"{_RULE}/{{id}}", delete_rule, "Delete a rule", answer=RuleRecord),
    _row(
        "GET",
        _MESSAGE,
        list_messages,
        "What waits, went out or is dead, newest first",
        answer=list[MessageRecord],
        query=pagination.QUERY,
    ),
    _row(
        "GET",
        f"{_MESSAGE}/{{id}}",
        show_message,
        "One message with its tries",
        answer=MessageRecord,
    ),
    _row(
        "POST",
        f"{_MESSAGE}/{{id}}/retry",
        retry,
        "Try a dead message again",
        answer=MessageRecord,
        codes=("not_dead",),
    ),
)
