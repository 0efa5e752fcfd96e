"""`belvedere webhook`: doors from outside."""

import json
import sys
from pathlib import Path
from typing import Any

from belvedere.cli.framework import lookup, rendering, time_words
from belvedere.cli.framework.command import Args, Stop, Verb, option
from belvedere.cli.framework.profile import connect
from belvedere.client.http_client import Client

WEBHOOK = option("webhook", metavar="WEBHOOK", help="its name or id")
DELIVERY = option("delivery", metavar="DELIVERY", help="the delivery's id")
SIGNATURES = ("none", "hmac-sha256", "github", "gitlab", "stripe", "slack")


def listed(args: Args) -> Any:
    return connect(args).get("/webhook")


def one(args: Args) -> Any:
    return _found(connect(args), args)


def create(args: Args) -> Any:
    client = connect(args)
    body: dict[str, Any] = {"name": args.name, "tasks": _tasks(client, args.task)}
    if args.workflow:
        body["workflows"] = _workflows(client, args.workflow)
    if args.signature:
        body["signature"] = args.signature
    return client.post("/webhook", body)


def edit(args: Args) -> Any:
    """Change what was said and nothing else, unless somebody changed the webhook meanwhile."""
    client = connect(args)
    hook = _found(client, args)
    given = {"name": args.name, "enable": args.enable, "signature": args.signature}
    body = {name: value for name, value in given.items() if value is not None}
    if args.attach or args.detach:
        gone = _tasks(client, args.detach)
        kept = [task for task in hook["tasks"] if task not in gone]
        body["tasks"] = [*kept, *_tasks(client, args.attach)]
    if args.attach_workflow or args.detach_workflow:
        gone = _workflows(client, args.detach_workflow)
        kept = [flow for flow in hook["workflows"] if flow not in gone]
        body["workflows"] = [*kept, *_workflows(client, args.attach_workflow)]
    if not body:
        raise Stop("Nothing to change; say what, for example with --attach TASK.", 2)
    headers = {"If-Match": str(hook["version"])}
    return client.request("PATCH", f"/webhook/{hook['id']}", body, headers=headers).body


def delete(args: Args) -> Any:
    client = connect(args)
    return client.delete(_path(client, args))


def trigger(args: Args) -> Any:
    client = connect(args)
    return client.post(f"{_path(client, args)}/trigger", _payload(args))


def _payload(args: Args) -> Any:
    if args.body is None:
        return args.values
    if args.values:
        raise Stop("Give the arguments, or all of the body with --body, not both.", 2)
    try:
        return json.loads(args.body)
    except ValueError as fault:
        raise Stop(f"--body is not JSON: {fault}", 2) from None


def credentials(args: Args) -> Any:
    client = connect(args)
    hook = _found(client, args)
    path = f"/webhook/{hook['id']}/credentials"
    if args.rotate or args.secret_file is not None:
        body: dict[str, Any] = {"overlap": time_words.duration_ms(args.overlap) // 1_000}
        if args.secret_file is not None:
            body["secret"] = _secret(args.secret_file)
        answer = client.post(f"{path}/rotate", body)
    else:
        answer = client.get(path)
    door = f"{client.server}/{hook['customer_name']}/webhook/{hook['id']}/trigger"
    return {**answer, "url": f"{door}/secret/{answer['secret']}", "signed_url": f"{door}/signed"}


def _secret(path: str) -> str:
    """From a file or standard input: `ps` shows what stands on a command line."""
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text()
    except (OSError, UnicodeDecodeError) as fault:
        raise Stop(f"The secret cannot be read: {fault}", 2) from None
    return text.strip()


def deliveries(args: Args) -> Any:
    client = connect(args)
    return client.get(f"{_path(client, args)}/delivery", {"limit": args.limit})


def delivery(args: Args) -> Any:
    client = connect(args)
    return client.get(f"{_path(client, args)}/delivery/{args.delivery}")


def replay(args: Args) -> Any:
    client = connect(args)
    return client.post(f"{_path(client, args)}/delivery/{args.delivery}/replay")


def _found(client: Client, args: Args) -> dict[str, Any]:
    return lookup.webhook(client, args.webhook)


def _path(client: Client, args: Args) -> str:
    return f"/webhook/{_found(client, args)['id']}"


def _tasks(client: Client, named: list[str] | None) -> list[str]:
    return [str(lookup.task(client, text)["id"]) for text in named or ()]


def _workflows(client: Client, named: list[str] | None) -> list[str]:
    return [str(lookup.workflow(client, text)["id"]) for text in named or ()]


def show_webhooks(hooks: Any) -> None:
    rendering.table(
        ("id", "state", "webhook*", "tasks", "workflows", "calls", "last call"),
        (
            (
                each["id"],
                "active" if each["enable"] else "disabled",
                each["name"],
                len(each["tasks"]),
                len(each["workflows"]),
                each["trigger_count"],
                time_words.age(each["last_triggered"]),
            )
            for each in hooks
        ),
        "No webhook yet. Admins make one with: belvedere webhook create NAME --task TASK",
    )


def show_webhook(hook: Any) -> None:
    rendering.fields(
        (
            ("id", hook["id"]),
            ("webhook", hook["name"]),
            ("state", "active" if hook["enable"] else "disabled"),
            ("tasks", hook["tasks"]),
            ("workflows", hook["workflows"]),
            ("signature", hook["signature"]),
            ("calls", hook["trigger_count"]),
            ("last call", time_words.when(hook["last_triggered"])),
            ("version", hook["version"]),
            ("changed", time_words.when(hook["last_update"])),
        )
    )


def show_deliveries(found: Any) -> None:
    rendering.table(
        ("id", "when", "verdict", "address", "by", "jobs"),
        (
            (
                each["id"],
                time_words.local(each["date"]),
                each["verdict"],
                each["address"],
                each["user"] or each["door"],
                len(each["jobs"]),
            )
            for each in found
        ),
        "Nobody has called it yet.",
    )


def show_delivery(found: Any) -> None:
    rendering.fields(
        (
            ("id", found["id"]),
            ("when", time_words.when(found["date"])),
            ("verdict", found["verdict"]),
            ("address", found["address"]),
            ("by", found["user"] or found["door"]),
            ("its own id", found["delivery"]),
            ("replay of", found["replay_of"]),
            ("jobs", [job["id"] for job in found["jobs"]]),
            ("content type", found["content_type"]),
            *((f"  {name}", value) for name, value in found["headers"].items()),
            ("body", found["body"]),
        )
    )


def show_started(answer: Any) -> None:
    if not answer["jobs"]:
        print("Nothing is attached; nothing was started.")
    for job in answer["jobs"]:
        print(f"Job {job['id']} is started.")


def _say(text: str) -> Any:
    return lambda hook: print(text.format(hook["name"]))


VERBS = (
    Verb("list", listed, "List the webhooks.", "belvedere webhook list", show_webhooks),
    Verb(
        "show",
        one,
        "Show one webhook.",
        "belvedere webhook show push",
        show_webhook,
        options=(WEBHOOK,),
    ),
    Verb(
        "create",
        create,
        "Make a webhook.",
        "belvedere webhook create push --task deploy --signature github",
        _say("Webhook {0} is made. Its address: belvedere webhook credentials {0}"),
        options=(
            option("name", metavar="NAME", help="the webhook's name"),
            option("--task", metavar="TASK", action="append", help="runs it; repeat it for more"),
            option("--workflow", metavar="WORKFLOW", action="append", help="runs it, too"),
            option("--signature", choices=SIGNATURES, help="how callers prove themselves"),
        ),
    ),
    Verb(
        "edit",
        edit,
        "Change a webhook. What is not named stays as it is.",
        "belvedere webhook edit push --attach smoke-test",
        _say("Webhook {} is changed."),
        options=(
            WEBHOOK,
            option("--name", metavar="NAME", help="another name"),
            option("--attach", metavar="TASK", action="append", help="a task that it runs too"),
            option("--detach", metavar="TASK", action="append", help="a task it no longer runs"),
            option("--attach-workflow", metavar="WORKFLOW", action="append", help="the same"),
            option("--detach-workflow", metavar="WORKFLOW", action="append", help="for workflows"),
            option("--signature", choices=SIGNATURES, help="how callers prove themselves"),
            option("--enable", action="store_true", default=None, help="let it be called again"),
            option("--disable", dest="enable", action="store_false", help="refuse calls"),
        ),
    ),
    Verb(
        "delete",
        delete,
        "Delete a webhook; remote access is revoked.",
        "belvedere webhook delete push",
        _say("Webhook {} is deleted."),
        options=(WEBHOOK,),
    ),
    Verb(
        "trigger",
        trigger,
        "Call a webhook: everything attached to it runs.",
        "belvedere webhook trigger push main 3f2a91c",
        show_started,
        options=(
            WEBHOOK,
            option("values", metavar="VALUE", nargs="*", help="the arguments, in order"),
            option("--body", metavar="JSON", help="all of the body, instead of arguments"),
        ),
    ),
    Verb(
        "credentials",
        credentials,
        "Print the address that callers use, with the secret in it; reading is audited.",
        "belvedere webhook credentials push --rotate --overlap 1h",
        lambda answer: print(answer["url"]),
        options=(
            WEBHOOK,
            option("--rotate", action="store_true", help="change the secret first"),
            option(
                "--secret-file",
                metavar="FILE",
                help="change it to the one that Stripe or Slack gave you; - reads standard input",
            ),
            option(
                "--overlap",
                default="0s",
                metavar="DURATION",
                help="how long the old secret still works (default: not at all)",
            ),
        ),
    ),
    Verb(
        "deliveries",
        deliveries,
        "List what came in, newest first.",
        "belvedere webhook deliveries push",
        show_deliveries,
        options=(
            WEBHOOK,
            option("--limit", default="20", metavar="N", help="at most so many (default 20)"),
        ),
    ),
    Verb(
        "delivery",
        delivery,
        "Show one delivery with its headers and body.",
        "belvedere webhook delivery push 65a0000000000000000000b1",
        show_delivery,
        options=(WEBHOOK, DELIVERY),
    ),
    Verb(
        "replay",
        replay,
        "Run a delivery once more.",
        "belvedere webhook replay push 65a0000000000000000000b1",
        show_started,
        options=(WEBHOOK, DELIVERY),
    ),
)
