"""`belvedere notify`: channels, rules, messages and your inbox."""

import shlex

from belvedere.cli.framework import lookup, terminal, time_words
from belvedere.cli.framework.command import (
    Args,
    Command,
    CommandError,
    CommandOption,
    Record,
    Show,
    option,
)
from belvedere.cli.framework.profile import connect
from belvedere.cli.monitoring import notify_rendering
from belvedere.client.http_client import Client

CHANNEL = option("channel", metavar="CHANNEL", help="its name or id")
RULE = option("rule", metavar="RULE", help="its name or id")
MESSAGE = option("message", metavar="MESSAGE", help="the message's id or short id")
URL = option(
    "url",
    metavar="ADDRESS",
    nargs="?",
    help="the address (prompted for, or read from stdin, if omitted)",
)
ENABLE = option("--enable", action="store_true", default=None, help="enable it")
DISABLE = option("--disable", dest="enable", action="store_false", help="disable it")
LIMIT = option("--limit", type=int, default=20, metavar="N", help="maximum number (default 20)")


# Channels


def channels(args: Args) -> object:
    return connect(args).get("/notify/channel")


def add(args: Args) -> object:
    client = connect(args)
    # An address is a secret, and `ps` shows a command line.
    url = args.url or terminal.secret("Address of the receiver: ")
    return client.post("/notify/channel", {"name": args.name, "url": url})


def edit(args: Args) -> object:
    client = connect(args)
    changes = {"name": args.name, "url": args.url, "enable": args.enable}
    return _patch(client, _channel(client, args.channel), "channel", changes)


def remove(args: Args) -> object:
    client = connect(args)
    return client.delete(f"/notify/channel/{_channel(client, args.channel)['id']}")


def test(args: Args) -> object:
    client = connect(args)
    return client.post(f"/notify/channel/{_channel(client, args.channel)['id']}/test")


def secret(args: Args) -> object:
    client = connect(args)
    path = f"/notify/channel/{_channel(client, args.channel)['id']}/credentials"
    return client.post(f"{path}/rotate") if args.rotate else client.get(path)


# Rules


def rules(args: Args) -> object:
    return connect(args).get("/notify/rule")


def rule(args: Args) -> object:
    return _rule(connect(args), args.rule)


def rule_add(args: Args) -> object:
    client = connect(args)
    if not args.channels:
        raise CommandError("No channel given; use --channel CHANNEL.", 2)
    return client.post("/notify/rule", {"name": args.name, **_rule_fields(client, args)})


def rule_edit(args: Args) -> object:
    client = connect(args)
    changes = {"name": args.name, "enable": args.enable, **_rule_fields(client, args)}
    return _patch(client, _rule(client, args.rule), "rule", changes)


def rule_remove(args: Args) -> object:
    client = connect(args)
    return client.delete(f"/notify/rule/{_rule(client, args.rule)['id']}")


def _rule_fields(client: Client, args: Args) -> Record:
    """The fields of a rule from the options; an empty value clears a list."""
    values: Record = {
        name: [word for word in words if word]
        for name in ("kinds", "objects", "states", "tags")
        if (words := getattr(args, name)) is not None
    }
    if args.channels:
        values["channels"] = [_channel(client, text)["id"] for text in args.channels]
    if args.severity:
        values["severity"] = args.severity
    if args.group is not None:
        values["group"] = time_words.duration_ms(args.group) // 1_000
    if args.quiet is not None:
        values["quiet"] = _quiet(args)
    return values


def _quiet(args: Args) -> Record | None:
    if args.quiet == "":
        return None
    start, dash, end = args.quiet.partition("-")
    if not dash:
        raise CommandError("--quiet needs two times of day, such as 22:00-07:00.", 2)
    return {"from": start, "to": end, "zone": args.zone}


# Messages and inbox


def messages(args: Args) -> object:
    query = {"where[state]": "dead"} if args.dead else {}
    return connect(args).read_list("/notify/message", query, args.limit)


def message(args: Args) -> object:
    client = connect(args)
    return client.get(f"/notify/message/{_message_id(client, args.message)}")


def _message_id(client: Client, text: str) -> str:
    return lookup.history_id(client, "message", "/notify/message", text)


def retry(args: Args) -> object:
    """One message, or every dead one."""
    client = connect(args)
    if bool(args.message) == args.all:
        raise CommandError("Specify a message id, or use --all.", 2)
    if args.message:
        ids = [_message_id(client, args.message)]
    else:
        dead = client.read_list("/notify/message", {"where[state]": "dead"})
        ids = [message["id"] for message in dead]
    return [client.post(f"/notify/message/{message_id}/retry") for message_id in ids]


def inbox(args: Args) -> object:
    query = {} if args.all else {"where[read]": "false"}
    return connect(args).read_list("/notification", query, args.limit)


def read(args: Args) -> object:
    client = connect(args)
    if args.notification:
        notification_id = lookup.history_id(
            client, "notification", "/notification", args.notification
        )
        client.put(f"/notification/{notification_id}/read")
        return {"count": 1}
    return client.put("/notification/read")


def mute(args: Args) -> object:
    """Without a kind: list what is muted."""
    client = connect(args)
    now = client.get("/notification/preferences")
    if not args.kinds:
        return now
    muted = set(now["muted"])
    muted = muted - set(args.kinds) if args.off else muted | set(args.kinds)
    return client.put("/notification/preferences", {"muted": sorted(muted)})


def _patch(client: Client, record: Record, kind: str, changes: Record) -> object:
    """Change only the given fields, unless the record was changed in the meantime."""
    body = {name: value for name, value in changes.items() if value is not None or name == "quiet"}
    if not body:
        raise CommandError("Nothing to change. Use an option, for example --name NAME.", 2)
    headers = {"If-Match": str(record["version"])}
    return client.request("PATCH", f"/notify/{kind}/{record['id']}", body, headers=headers).body


def _channel(client: Client, text: str) -> Record:
    return lookup.by_name("channel", client.get("/notify/channel"), text, "notify channels")


def _rule(client: Client, text: str) -> Record:
    return lookup.by_name("rule", client.get("/notify/rule"), text, "notify rules")


def _confirmation(text: str) -> Show:
    return lambda record: print(text.format(record["name"], shlex.quote(record["name"])))


def _repeatable(flag: str, dest: str, help_text: str) -> CommandOption:
    return option(flag, dest=dest, metavar=flag[2:].upper(), action="append", help=help_text)


RULE_OPTIONS = (
    _repeatable("--channel", "channels", "channel to send to; can be repeated"),
    _repeatable("--kind", "kinds", "an event kind, or a group such as job.* (default: alerts)"),
    _repeatable("--object", "objects", "id of a monitor, task, host, … (default: any)"),
    _repeatable("--state", "states", "the state of the object (default: any)"),
    _repeatable("--tag", "tags", "a tag of the object (default: any)"),
    option("--severity", choices=("LOW", "HIGH", "CRITICAL"), help="this severity and above"),
    option("--group", metavar="DURATION", help="group events of this period into one message"),
    option(
        "--quiet",
        metavar="FROM-TO",
        help="hours during which messages are held back, such as 22:00-07:00",
    ),
    option("--zone", default="UTC", metavar="ZONE", help="the time zone of these hours"),
)

COMMANDS = (
    Command(
        "channels",
        channels,
        "List channels.",
        "belvedere notify channels",
        notify_rendering.channels,
    ),
    Command(
        "add",
        add,
        "Create a channel: an https address that receives signed requests, or any Apprise URL.",
        "belvedere notify add ops ntfys://ntfy.sh/my-topic",
        _confirmation("Channel {0} created. Test it with: belvedere notify test {1}"),
        options=(option("name", metavar="NAME", help="the channel's name"), URL),
    ),
    Command(
        "edit",
        edit,
        "Change a channel. Fields that you omit are unchanged.",
        "belvedere notify edit ops --disable",
        _confirmation("Channel {} updated."),
        options=(
            CHANNEL,
            option("--name", metavar="NAME", help="the new name"),
            option("--url", metavar="ADDRESS", help="the new address"),
            ENABLE,
            DISABLE,
        ),
    ),
    Command(
        "remove",
        remove,
        "Delete a channel and its messages.",
        "belvedere notify remove ops",
        _confirmation("Channel {} deleted."),
        options=(CHANNEL,),
    ),
    Command(
        "test",
        test,
        "Send a test message; exits with 1 if it is not accepted.",
        "belvedere notify test ops",
        notify_rendering.outcome,
        options=(CHANNEL,),
        status=lambda _, message: 0 if message["state"] == "sent" else 1,
    ),
    Command(
        "secret",
        secret,
        "Print the secret that signs the requests to an https channel; reading it is audited.",
        "belvedere notify secret ops --rotate",
        lambda credentials: print(credentials["secret"]),
        options=(CHANNEL, option("--rotate", action="store_true", help="rotate it first")),
    ),
    Command("rules", rules, "List rules.", "belvedere notify rules", notify_rendering.rules),
    Command(
        "rule",
        rule,
        "Show a rule.",
        "belvedere notify rule nights",
        notify_rendering.rule,
        options=(RULE,),
    ),
    Command(
        "rule-add",
        rule_add,
        "Create a rule: which events are sent to which channels.",
        "belvedere notify rule-add nights --channel ops --severity HIGH --quiet 22:00-07:00",
        _confirmation("Rule {} created."),
        options=(option("name", metavar="NAME", help="the rule's name"), *RULE_OPTIONS),
    ),
    Command(
        "rule-edit",
        rule_edit,
        "Change a rule. Fields that you omit are unchanged.",
        "belvedere notify rule-edit nights --kind monitor.failure --group 5m",
        _confirmation("Rule {} updated."),
        options=(
            RULE,
            option("--name", metavar="NAME", help="the new name"),
            *RULE_OPTIONS,
            ENABLE,
            DISABLE,
        ),
    ),
    Command(
        "rule-remove",
        rule_remove,
        "Delete a rule.",
        "belvedere notify rule-remove nights",
        _confirmation("Rule {} deleted."),
        options=(RULE,),
    ),
    Command(
        "messages",
        messages,
        "List messages that are waiting, sent or dead, newest first.",
        "belvedere notify messages --dead",
        notify_rendering.messages,
        options=(
            option("--dead", action="store_true", help="only messages that could not be sent"),
            LIMIT,
        ),
    ),
    Command(
        "message",
        message,
        "Show a message with its delivery attempts.",
        "belvedere notify message 65a0000000000000000000b1",
        notify_rendering.message,
        options=(MESSAGE,),
    ),
    Command(
        "retry",
        retry,
        "Send a dead message again, or all of them.",
        "belvedere notify retry --all",
        lambda queued: print(f"Messages queued again: {len(queued)}."),
        options=(
            option("message", metavar="MESSAGE", nargs="?", help="the message's id or short id"),
            option("--all", action="store_true", help="all dead messages"),
        ),
    ),
    Command(
        "inbox",
        inbox,
        "List unread notifications in your inbox.",
        "belvedere notify inbox --all",
        notify_rendering.inbox,
        options=(option("--all", action="store_true", help="include read notifications"), LIMIT),
    ),
    Command(
        "read",
        read,
        "Mark a notification as read, or all of them.",
        "belvedere notify read",
        lambda marked: print(f"{marked['count']} marked as read."),
        options=(
            option(
                "notification",
                metavar="NOTIFICATION",
                nargs="?",
                help="its id (default: all)",
            ),
        ),
    ),
    Command(
        "mute",
        mute,
        "Mute event kinds in your inbox; without a kind, list all of them.",
        "belvedere notify mute monitor.recovered",
        notify_rendering.inbox_preferences,
        options=(
            option(
                "kinds", metavar="KIND", nargs="*", help="an event kind such as monitor.recovered"
            ),
            option("--off", action="store_true", help="unmute them"),
        ),
    ),
)
