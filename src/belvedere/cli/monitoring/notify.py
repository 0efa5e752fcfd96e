"""`belvedere notify`: who is told, and what became of it."""

from typing import Any

from belvedere.cli.framework import lookup, terminal, time_words
from belvedere.cli.framework.command import Args, Option, Stop, Verb, option
from belvedere.cli.framework.profile import connect
from belvedere.cli.monitoring import notify_rendering
from belvedere.client.http_client import Client

CHANNEL = option("channel", metavar="CHANNEL", help="its name or id")
RULE = option("rule", metavar="RULE", help="its name or id")
MESSAGE = option("message", metavar="MESSAGE", help="the message's id")
URL = option("url", metavar="ADDRESS", nargs="?", help="left out: it is asked for, or read")
ENABLE = option("--enable", action="store_true", default=None, help="let it work again")
DISABLE = option("--disable", dest="enable", action="store_false", help="let it rest")
LIMIT = option("--limit", default="20", metavar="N", help="at most so many (default 20)")


# Channels


def channels(args: Args) -> Any:
    return connect(args).get("/notify/channel")


def add(args: Args) -> Any:
    client = connect(args)
    # An address is a secret, and `ps` shows a command line.
    url = args.url or terminal.secret("Address of the receiver: ")
    return client.post("/notify/channel", {"name": args.name, "url": url})


def edit(args: Args) -> Any:
    client = connect(args)
    given = {"name": args.name, "url": args.url, "enable": args.enable}
    return _patch(client, _channel(client, args.channel), "channel", given)


def remove(args: Args) -> Any:
    client = connect(args)
    return client.delete(f"/notify/channel/{_channel(client, args.channel)['id']}")


def test(args: Args) -> Any:
    client = connect(args)
    return client.post(f"/notify/channel/{_channel(client, args.channel)['id']}/test")


def secret(args: Args) -> Any:
    client = connect(args)
    path = f"/notify/channel/{_channel(client, args.channel)['id']}/credentials"
    return client.post(f"{path}/rotate") if args.rotate else client.get(path)


# Rules


def rules(args: Args) -> Any:
    return connect(args).get("/notify/rule")


def rule(args: Args) -> Any:
    return _rule(connect(args), args.rule)


def rule_add(args: Args) -> Any:
    client = connect(args)
    if not args.channels:
        raise Stop("Say where it tells: --channel CHANNEL.", 2)
    return client.post("/notify/rule", {"name": args.name, **_said(client, args)})


def rule_edit(args: Args) -> Any:
    client = connect(args)
    given = {"name": args.name, "enable": args.enable, **_said(client, args)}
    return _patch(client, _rule(client, args.rule), "rule", given)


def rule_remove(args: Args) -> Any:
    client = connect(args)
    return client.delete(f"/notify/rule/{_rule(client, args.rule)['id']}")


def _said(client: Client, args: Args) -> dict[str, Any]:
    """What the options say of a rule; an empty word stands for none of a list."""
    said: dict[str, Any] = {
        name: [word for word in given if word]
        for name in ("kinds", "objects", "states", "tags")
        if (given := getattr(args, name)) is not None
    }
    if args.channels:
        said["channels"] = [_channel(client, text)["id"] for text in args.channels]
    if args.severity:
        said["severity"] = args.severity
    if args.group is not None:
        said["group"] = time_words.duration_ms(args.group) // 1_000
    if args.quiet is not None:
        said["quiet"] = _quiet(args)
    return said


def _quiet(args: Args) -> dict[str, Any] | None:
    if args.quiet == "":
        return None
    start, dash, end = args.quiet.partition("-")
    if not dash:
        raise Stop("--quiet takes two times of the day, such as 22:00-07:00.", 2)
    return {"from": start, "to": end, "zone": args.zone}


# Messages and inbox


def messages(args: Args) -> Any:
    query = {"limit": args.limit, **({"where[state]": "dead"} if args.dead else {})}
    return connect(args).get("/notify/message", query)


def message(args: Args) -> Any:
    return connect(args).get(f"/notify/message/{args.message}")


def retry(args: Args) -> Any:
    """One, or every dead one."""
    client = connect(args)
    if bool(args.message) == args.all:
        raise Stop("Name one message, or say --all.", 2)
    ids = [args.message]
    if args.all:
        ids = [one["id"] for one in client.get("/notify/message", {"where[state]": "dead"})]
    return [client.post(f"/notify/message/{one}/retry") for one in ids]


def inbox(args: Args) -> Any:
    query = {"limit": args.limit, **({} if args.all else {"where[read]": "false"})}
    return connect(args).get("/notification", query)


def read(args: Args) -> Any:
    client = connect(args)
    if args.notification:
        client.put(f"/notification/{args.notification}/read")
        return {"count": 1}
    return client.put("/notification/read")


def mute(args: Args) -> Any:
    """Without a kind: what is muted now."""
    client = connect(args)
    now = client.get("/notification/preferences")
    if not args.kinds:
        return now
    muted = set(now["muted"])
    muted = muted - set(args.kinds) if args.off else muted | set(args.kinds)
    return client.put("/notification/preferences", {"muted": sorted(muted)})


def _patch(client: Client, found: Any, what: str, given: dict[str, Any]) -> Any:
    """Change what was said and nothing else, unless somebody changed it meanwhile."""
    body = {name: value for name, value in given.items() if value is not None or name == "quiet"}
    if not body:
        raise Stop("Nothing to change; say what.", 2)
    headers = {"If-Match": str(found["version"])}
    return client.request("PATCH", f"/notify/{what}/{found['id']}", body, headers=headers).body


def _channel(client: Client, text: str) -> Any:
    return lookup.named("channel", client.get("/notify/channel"), text, "notify channels")


def _rule(client: Client, text: str) -> Any:
    return lookup.named("rule", client.get("/notify/rule"), text, "notify rules")


def _say(text: str) -> Any:
    return lambda found: print(text.format(found["name"]))


def _many(flag: str, dest: str, help_text: str) -> Option:
    return option(flag, dest=dest, metavar=flag[2:].upper(), action="append", help=help_text)


WANTED = (
    _many("--channel", "channels", "where it tells; repeat it for more"),
    _many("--kind", "kinds", "a kind of event, or all such as job.* (default: alerts)"),
    _many("--object", "objects", "the id of a monitor, task, host, … (default: any)"),
    _many("--state", "states", "the state it is in (default: any)"),
    _many("--tag", "tags", "a tag of it (default: any)"),
    option("--severity", choices=("LOW", "HIGH", "CRITICAL"), help="this and above"),
    option("--group", metavar="DURATION", help="so long a time of events is one message"),
    option("--quiet", metavar="FROM-TO", help="hours in which messages wait, such as 22:00-07:00"),
    option("--zone", default="UTC", metavar="ZONE", help="the time zone of those hours"),
)

VERBS = (
    Verb(
        "channels",
        channels,
        "List the channels.",
        "belvedere notify channels",
        notify_rendering.channels,
    ),
    Verb(
        "add",
        add,
        "Make a channel: an https address that gets signed calls, or any of the Apprise library.",
        "belvedere notify add ops ntfys://ntfy.sh/my-topic",
        _say("Channel {0} is made. Try it: belvedere notify test {0}"),
        options=(option("name", metavar="NAME", help="the channel's name"), URL),
    ),
    Verb(
        "edit",
        edit,
        "Change a channel. What is not named stays as it is.",
        "belvedere notify edit ops --disable",
        _say("Channel {} is changed."),
        options=(
            CHANNEL,
            option("--name", metavar="NAME", help="another name"),
            option("--url", metavar="ADDRESS", help="another address"),
            ENABLE,
            DISABLE,
        ),
    ),
    Verb(
        "remove",
        remove,
        "Delete a channel with its messages.",
        "belvedere notify remove ops",
        _say("Channel {} is deleted."),
        options=(CHANNEL,),
    ),
    Verb(
        "test",
        test,
        "Send a test message now; fails when it is not taken.",
        "belvedere notify test ops",
        notify_rendering.outcome,
        options=(CHANNEL,),
        status=lambda _, found: 0 if found["state"] == "sent" else 1,
    ),
    Verb(
        "secret",
        secret,
        "Print the secret that signs the calls of a webhook; reading is audited.",
        "belvedere notify secret ops --rotate",
        lambda found: print(found["secret"]),
        options=(CHANNEL, option("--rotate", action="store_true", help="change it first")),
    ),
    Verb("rules", rules, "List the rules.", "belvedere notify rules", notify_rendering.rules),
    Verb(
        "rule",
        rule,
        "Show one rule.",
        "belvedere notify rule nights",
        notify_rendering.rule,
        options=(RULE,),
    ),
    Verb(
        "rule-add",
        rule_add,
        "Make a rule: what is told, through which channels.",
        "belvedere notify rule-add nights --channel ops --severity HIGH --quiet 22:00-07:00",
        _say("Rule {} is made."),
        options=(option("name", metavar="NAME", help="the rule's name"), *WANTED),
    ),
    Verb(
        "rule-edit",
        rule_edit,
        "Change a rule. What is not named stays as it is.",
        "belvedere notify rule-edit nights --kind monitor.failure --group 5m",
        _say("Rule {} is changed."),
        options=(
            RULE,
            option("--name", metavar="NAME", help="another name"),
            *WANTED,
            ENABLE,
            DISABLE,
        ),
    ),
    Verb(
        "rule-remove",
        rule_remove,
        "Delete a rule.",
        "belvedere notify rule-remove nights",
        _say("Rule {} is deleted."),
        options=(RULE,),
    ),
    Verb(
        "messages",
        messages,
        "List what waits, went out or is dead, newest first.",
        "belvedere notify messages --dead",
        notify_rendering.messages,
        options=(option("--dead", action="store_true", help="only what could not be sent"), LIMIT),
    ),
    Verb(
        "message",
        message,
        "Show one message with its tries.",
        "belvedere notify message 65a0000000000000000000b1",
        notify_rendering.message,
        options=(MESSAGE,),
    ),
    Verb(
        "retry",
        retry,
        "Try a dead message again, or all of them.",
        "belvedere notify retry --all",
        lambda found: print(f"{len(found)} will be tried again."),
        options=(
            option("message", metavar="MESSAGE", nargs="?", help="the message's id"),
            option("--all", action="store_true", help="every dead one"),
        ),
    ),
    Verb(
        "inbox",
        inbox,
        "List what is new in your inbox.",
        "belvedere notify inbox --all",
        notify_rendering.inbox,
        options=(option("--all", action="store_true", help="also what you have read"), LIMIT),
    ),
    Verb(
        "read",
        read,
        "Mark one notification as read, or all of them.",
        "belvedere notify read",
        lambda found: print(f"{found['count']} marked as read."),
        options=(
            option("notification", metavar="NOTIFICATION", nargs="?", help="its id; default: all"),
        ),
    ),
    Verb(
        "mute",
        mute,
        "Say which kinds of events shall not come into your inbox; without one, list them.",
        "belvedere notify mute monitor.recovered",
        notify_rendering.wishes,
        options=(
            option("kinds", metavar="KIND", nargs="*", help="like monitor.recovered"),
            option("--off", action="store_true", help="let them come again"),
        ),
    ),
)
