"""Endpoints of channels, rules and messages."""

from belvedere.access.request import AnyRequest, Request, heavy_read
from belvedere.access.searches import read_list, run_search
from belvedere.egress.messages import EgressResult
from belvedere.notifications import service, store
from belvedere.notifications.api import records
from belvedere.notifications.api.records import (
    ChannelCredentials,
    ChannelRecord,
    MessageRecord,
    RuleRecord,
)
from belvedere.notifications.bodies import ChannelBody, RuleBody
from belvedere.notifications.delivery import dispatcher, messages
from belvedere.notifications.model import ChannelRow, RuleRow
from belvedere.rest import listing as filters
from belvedere.rest import pagination, text_fields
from belvedere.rest.route import Reply, Route

# Channels


async def list_channels(request: Request[None]) -> Reply:
    listing = filters.read(request.query, store.CHANNELS)
    rows, total = await run_search(request, service.list_page, ChannelRow, request.actor, listing)
    return pagination.page_reply(
        request, listing, [records.channel(row, request.actor) for row in rows], total
    )


async def show_channel(request: Request[None]) -> ChannelRecord:
    row = await request.services.db.read(
        service.show, ChannelRow, request.actor, request.path["id"]
    )
    return records.channel(row, request.actor)


async def create_channel(request: Request[ChannelBody]) -> Reply:
    if request.body.url is None:
        raise text_fields.invalid_field("url", "This is required.")
    service.without_mask(request.body.url)
    address = await _check_address(request, request.body.url)
    row = await request.services.db.write(
        service.create_channel, request.services.keyring, request.actor, request.body, address
    )
    return Reply(records.channel(row, request.actor), 201)


async def change_channel(request: Request[ChannelBody]) -> ChannelRecord:
    body, services = request.body, request.services
    # First: a caller who may not see the channel must not learn anything about an address.
    row = await services.db.read(service.show, ChannelRow, request.actor, request.path["id"])
    body.url = service.without_mask(body.url, row.shown)
    address = None if body.url is None else await _check_address(request, body.url)
    row = await services.db.write(
        service.change_channel,
        services.keyring,
        request.actor,
        request.path["id"],
        body,
        address,
        request.if_match,
    )
    return records.channel(row, request.actor)


async def _check_address(request: AnyRequest, url: str) -> EgressResult:
    outgoing = request.services.egress.of(request.actor.customer_id)
    address: EgressResult = await outgoing.check(text_fields.prose("url", url, most=4_096))
    if address.fault:
        raise text_fields.invalid_field("url", address.fault)
    return address


async def delete_channel(request: Request[None]) -> ChannelRecord:
    row = await request.services.db.write(service.delete_channel, request.actor, request.path["id"])
    return records.channel(row, request.actor)


async def test_channel(request: Request[None]) -> Reply:
    services = request.services
    message = await services.db.write(service.begin_test, request.actor, request.path["id"])
    attempted = await dispatcher.send(
        services.db, services.keyring, services.egress, message, is_test=True
    )
    return Reply(records.message(attempted), 201)


async def reveal(request: Request[None]) -> ChannelCredentials:
    channel_id = request.path["id"]
    secret = await request.services.db.write(
        service.reveal_secret, request.services.keyring, request.actor, channel_id
    )
    return ChannelCredentials(channel_id, secret)


async def rotate(request: Request[None]) -> Reply:
    channel_id = request.path["id"]
    secret = await request.services.db.write(
        service.rotate_secret, request.services.keyring, request.actor, channel_id
    )
    return Reply(ChannelCredentials(channel_id, secret), 201)


# Rules


async def list_rules(request: Request[None]) -> Reply:
    listing = filters.read(request.query, store.RULES)
    rows, total = await run_search(request, service.list_page, RuleRow, request.actor, listing)
    return pagination.page_reply(
        request, listing, [records.rule(row, request.actor) for row in rows], total
    )


async def show_rule(request: Request[None]) -> RuleRecord:
    row = await request.services.db.read(service.show, RuleRow, request.actor, request.path["id"])
    return records.rule(row, request.actor)


async def create_rule(request: Request[RuleBody]) -> Reply:
    row = await request.services.db.write(service.create_rule, request.actor, request.body)
    return Reply(records.rule(row, request.actor), 201)


async def change_rule(request: Request[RuleBody]) -> RuleRecord:
    row = await request.services.db.write(
        service.change_rule, request.actor, request.path["id"], request.body, request.if_match
    )
    return records.rule(row, request.actor)


async def delete_rule(request: Request[None]) -> RuleRecord:
    row = await request.services.db.write(service.delete_rule, request.actor, request.path["id"])
    return records.rule(row, request.actor)


# Messages


async def list_messages(request: Request[None]) -> Reply:
    listing = filters.read(request.query, messages.MESSAGES)
    async with heavy_read(request):
        page = await read_list(request, listing, service.read_messages, request.actor)
        message_records = [records.message(row) for row in page.records]
    return pagination.answer_page(request, listing, page, records=message_records)


async def show_message(request: Request[None]) -> MessageRecord:
    message = await request.services.db.read(
        messages.find, request.actor.customer_id, request.path["id"]
    )
    return records.message(message)


async def retry(request: Request[None]) -> MessageRecord:
    return records.message(
        await request.services.db.write(service.retry, request.actor, request.path["id"])
    )


def _row(method: str, path: str, handler: object, summary: str, **options: object) -> Route:
    return Route(method, path, "admin", handler, summary, from_interface=False, **options)  # type: ignore[arg-type]


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
        "POST", _CHANNEL, create_channel, "Create a channel", body=ChannelBody, answer=ChannelRecord
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
        "Send a test message now; the response says whether it was delivered",
        answer=MessageRecord,
        codes=("channel_disabled",),
    ),
    _row(
        "GET",
        f"{_CHANNEL}/{{id}}/credentials",
        reveal,
        "Read the signing secret of a webhook channel (audited)",
        answer=ChannelCredentials,
        codes=("not_signed",),
    ),
    _row(
        "POST",
        f"{_CHANNEL}/{{id}}/credentials/rotate",
        rotate,
        "Rotate the signing secret of a webhook channel",
        answer=ChannelCredentials,
        codes=("not_signed",),
    ),
    _row("GET", _RULE, list_rules, "List rules", answer=list[RuleRecord], query=pagination.QUERY),
    _row("POST", _RULE, create_rule, "Create a rule", body=RuleBody, answer=RuleRecord),
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
        "List messages, newest first",
        answer=list[MessageRecord],
        query=pagination.QUERY,
    ),
    _row(
        "GET",
        f"{_MESSAGE}/{{id}}",
        show_message,
        "Show a message with its attempts",
        answer=MessageRecord,
    ),
    _row(
        "POST",
        f"{_MESSAGE}/{{id}}/retry",
        retry,
        "Retry a dead message",
        answer=MessageRecord,
        codes=("not_dead",),
    ),
)
