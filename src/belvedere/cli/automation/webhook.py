"""`belvedere webhook`: endpoints through which other systems start tasks and workflows."""

import json
import shlex
import sys
from pathlib import Path

from belvedere.cli.framework import lookup, rendering, terminal, time_words
from belvedere.cli.framework.command import Args, Command, CommandError, Record, Show, option
from belvedere.cli.framework.profile import connect
from belvedere.client.http_client import Client

WEBHOOK = option("webhook", metavar="WEBHOOK", help="its name or id")
DELIVERY = option("delivery", metavar="DELIVERY", help="the delivery's id or short id")
SIGNATURES = ("none", "hmac-sha256", "github", "gitlab", "stripe", "slack")


def list_all(args: Args) -> object:
    return connect(args).get("/webhook")


def get(args: Args) -> object:
    return _lookup(connect(args), args)


def create(args: Args) -> object:
    client = connect(args)
    body: Record = {"name": args.name, "tasks": _tasks(client, args.task)}
    if args.workflow:
        body["workflows"] = _workflows(client, args.workflow)
    if args.signature:
        body["signature"] = args.signature
    return client.post("/webhook", body)


def edit(args: Args) -> object:
    """Change only the given fields, unless the webhook was changed in the meantime."""
    client = connect(args)
    hook = _lookup(client, args)
    values = {"name": args.name, "enable": args.enable, "signature": args.signature}
    body = {name: value for name, value in values.items() if value is not None}
    if args.attach or args.detach:
        removed = _tasks(client, args.detach)
        remaining = [task for task in hook["tasks"] if task not in removed]
        body["tasks"] = [*remaining, *_tasks(client, args.attach)]
    if args.attach_workflow or args.detach_workflow:
        removed = _workflows(client, args.detach_workflow)
        remaining = [flow for flow in hook["workflows"] if flow not in removed]
        body["workflows"] = [*remaining, *_workflows(client, args.attach_workflow)]
    if not body:
        raise CommandError("Nothing to change. Use an option, for example --attach TASK.", 2)
    headers = {"If-Match": str(hook["version"])}
    return client.request("PATCH", f"/webhook/{hook['id']}", body, headers=headers).body


def delete(args: Args) -> object:
    client = connect(args)
    return client.delete(_path(client, args))


def trigger(args: Args) -> object:
    client = connect(args)
    return client.post(f"{_path(client, args)}/trigger", _payload(args))


def _payload(args: Args) -> object:
    if args.body is None:
        return args.values
    if args.values:
        raise CommandError("Use either arguments or --body, not both.", 2)
    try:
        return json.loads(args.body)
    except ValueError as fault:
        raise CommandError(f"--body is not JSON: {fault}", 2) from None


def credentials(args: Args) -> object:
    client = connect(args)
    hook = _lookup(client, args)
    path = f"/webhook/{hook['id']}/credentials"
    if args.rotate or args.secret_file is not None:
        body: Record = {"overlap": time_words.duration_ms(args.overlap) // 1_000}
        if args.secret_file is not None:
            body["secret"] = _secret(args.secret_file)
        secret = client.post(f"{path}/rotate", body)
    else:
        secret = client.get(path)
    endpoint = f"{client.server}/{hook['customer_name']}/webhook/{hook['id']}/trigger"
    if args.secret_file is not None:
        # The caller knows this secret; a terminal and its log must not show it.
        return {"id": hook["id"], "name": hook["name"], "signed_url": f"{endpoint}/signed"}
    return {
        **secret,
        "url": f"{endpoint}/secret/{secret['secret']}",
        "signed_url": f"{endpoint}/signed",
    }


def _secret(path: str) -> str:
    """From a file or standard input: `ps` would show an argument."""
    if path == "-" and sys.stdin.isatty():
        return terminal.secret("Secret: ")
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text()
    except (OSError, UnicodeDecodeError) as fault:
        raise CommandError(f"Cannot read the secret: {fault}", 2) from None
    return text.strip()


def deliveries(args: Args) -> object:
    client = connect(args)
    return client.read_list(f"{_path(client, args)}/delivery", {}, args.limit)


def delivery(args: Args) -> object:
    client = connect(args)
    return client.get(_delivery_path(client, args))


def replay(args: Args) -> object:
    client = connect(args)
    return client.post(f"{_delivery_path(client, args)}/replay")


def _delivery_path(client: Client, args: Args) -> str:
    path = f"{_path(client, args)}/delivery"
    return f"{path}/{lookup.history_id(client, 'delivery', path, args.delivery)}"


def _lookup(client: Client, args: Args) -> Record:
    return lookup.webhook(client, args.webhook)


def _path(client: Client, args: Args) -> str:
    return f"/webhook/{_lookup(client, args)['id']}"


def _tasks(client: Client, names: list[str] | None) -> list[str]:
    return [str(lookup.task(client, text)["id"]) for text in names or ()]


def _workflows(client: Client, names: list[str] | None) -> list[str]:
    return [str(lookup.workflow(client, text)["id"]) for text in names or ()]


def show_webhooks(hooks: list[Record]) -> None:
    rendering.table(
        ("id", "state", "webhook*", "tasks", "workflows", "calls", "last call"),
        (
            (
                hook["id"],
                "active" if hook["enable"] else "disabled",
                hook["name"],
                len(hook["tasks"]),
                len(hook["workflows"]),
                hook["trigger_count"],
                time_words.age(hook["last_triggered"]),
            )
            for hook in hooks
        ),
        "No webhooks yet. Admins create one with: belvedere webhook create NAME --task TASK",
    )


def show_webhook(hook: Record) -> None:
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


def show_deliveries(deliveries: list[Record]) -> None:
    rendering.table(
        ("id", "when", "verdict", "address", "by", "jobs"),
        (
            (
                delivery["id"],
                time_words.local(delivery["date"]),
                delivery["verdict"],
                delivery["address"],
                delivery["user"] or delivery["door"],
                len(delivery["jobs"]),
            )
            for delivery in deliveries
        ),
        "No deliveries yet.",
    )


def show_delivery(delivery: Record) -> None:
    rendering.fields(
        (
            ("id", delivery["id"]),
            ("when", time_words.when(delivery["date"])),
            ("verdict", delivery["verdict"]),
            ("address", delivery["address"]),
            ("by", delivery["user"] or delivery["door"]),
            ("sender's id", delivery["delivery"]),
            ("replay of", delivery["replay_of"]),
            ("jobs", [job["id"] for job in delivery["jobs"]]),
            ("content type", delivery["content_type"]),
            *((f"  {name}", value) for name, value in delivery["headers"].items()),
            ("body", delivery["body"]),
        )
    )


def show_started(result: Record) -> None:
    if not result["jobs"]:
        print("Nothing was started: no task or workflow is attached.")
    for job in result["jobs"]:
        print(f"Job {job['id']} started.")


def show_credentials(credentials: Record) -> None:
    if "url" in credentials:
        print(credentials["url"])
    else:
        print(f"The secret of webhook {credentials['name']} is set. Signed requests go to:")
        print(credentials["signed_url"])


def _confirmation(text: str) -> Show:
    return lambda hook: print(text.format(hook["name"], shlex.quote(hook["name"])))


COMMANDS = (
    Command("list", list_all, "List webhooks.", "belvedere webhook list", show_webhooks),
    Command(
        "show",
        get,
        "Show a webhook.",
        "belvedere webhook show push",
        show_webhook,
        options=(WEBHOOK,),
    ),
    Command(
        "create",
        create,
        "Create a webhook.",
        "belvedere webhook create push --task deploy --signature github",
        _confirmation(
            "Webhook {0} created. Show its address with: belvedere webhook credentials {1}"
        ),
        options=(
            option("name", metavar="NAME", help="the webhook's name"),
            option(
                "--task",
                metavar="TASK",
                action="append",
                help="a task that it runs; can be repeated",
            ),
            option(
                "--workflow",
                metavar="WORKFLOW",
                action="append",
                help="a workflow that it runs; can be repeated",
            ),
            option("--signature", choices=SIGNATURES, help="how callers sign their requests"),
        ),
    ),
    Command(
        "edit",
        edit,
        "Change a webhook. Fields that you omit are unchanged.",
        "belvedere webhook edit push --attach smoke-test",
        _confirmation("Webhook {} updated."),
        options=(
            WEBHOOK,
            option("--name", metavar="NAME", help="the new name"),
            option(
                "--attach", metavar="TASK", action="append", help="a task to add; can be repeated"
            ),
            option(
                "--detach",
                metavar="TASK",
                action="append",
                help="a task to remove; can be repeated",
            ),
            option(
                "--attach-workflow", metavar="WORKFLOW", action="append", help="a workflow to add"
            ),
            option(
                "--detach-workflow",
                metavar="WORKFLOW",
                action="append",
                help="a workflow to remove",
            ),
            option("--signature", choices=SIGNATURES, help="how callers sign their requests"),
            option("--enable", action="store_true", default=None, help="enable it"),
            option(
                "--disable",
                dest="enable",
                action="store_false",
                help="disable it: requests are rejected",
            ),
        ),
    ),
    Command(
        "delete",
        delete,
        "Delete a webhook; its address and secret stop working.",
        "belvedere webhook delete push",
        _confirmation("Webhook {} deleted."),
        options=(WEBHOOK,),
    ),
    Command(
        "trigger",
        trigger,
        "Trigger a webhook: all attached tasks and workflows run.",
        "belvedere webhook trigger push main 3f2a91c",
        show_started,
        options=(
            WEBHOOK,
            option("values", metavar="VALUE", nargs="*", help="the arguments, in order"),
            option("--body", metavar="JSON", help="the request body, instead of arguments"),
        ),
    ),
    Command(
        "credentials",
        credentials,
        "Print the address that callers use, including the secret; reading it is audited.",
        "belvedere webhook credentials push --rotate --overlap 1h",
        show_credentials,
        options=(
            WEBHOOK,
            option("--rotate", action="store_true", help="rotate the secret first"),
            option(
                "--secret-file",
                metavar="FILE",
                help="set the secret that Stripe or Slack gave you, and do not print it; - is "
                "standard input",
            ),
            option(
                "--overlap",
                default="0s",
                metavar="DURATION",
                help="how long the old secret stays valid (default 0s)",
            ),
        ),
    ),
    Command(
        "deliveries",
        deliveries,
        "List deliveries, newest first.",
        "belvedere webhook deliveries push",
        show_deliveries,
        options=(
            WEBHOOK,
            option(
                "--limit", type=int, default=20, metavar="N", help="maximum number (default 20)"
            ),
        ),
    ),
    Command(
        "delivery",
        delivery,
        "Show a delivery with its headers and body.",
        "belvedere webhook delivery push 65a0000000000000000000b1",
        show_delivery,
        options=(WEBHOOK, DELIVERY),
    ),
    Command(
        "replay",
        replay,
        "Process a delivery again.",
        "belvedere webhook replay push 65a0000000000000000000b1",
        show_started,
        options=(WEBHOOK, DELIVERY),
    ),
)
