"""`belvedere definition`: one task or monitor for every host with a tag."""

from typing import Any

from belvedere.cli.automation import task_options
from belvedere.cli.framework import lookup, rendering, time_words
from belvedere.cli.framework.command import Args, Verb, option
from belvedere.cli.framework.profile import connect

DEFINITION = option("definition", metavar="DEFINITION", help="its name or id")
SOURCE = option(
    "--from",
    dest="source",
    metavar="FILE",
    required=True,
    help="the task or monitor as a JSON object, without a host; - is stdin",
)


def listed(args: Args) -> Any:
    return connect(args).get("/definition")


def one(args: Args) -> Any:
    client = connect(args)
    return client.get(f"/definition/{lookup.definition(client, args.definition)['id']}")


def create(args: Args) -> Any:
    body = {
        "kind": args.kind,
        "host_tag": args.tag,
        "definition": task_options.in_file(args.source),
    }
    return connect(args).post("/definition", body)


def replace(args: Args) -> Any:
    """Unless somebody changed it meanwhile."""
    client = connect(args)
    found = lookup.definition(client, args.definition)
    body = {
        "kind": found["kind"],
        "host_tag": args.tag or found["host_tag"],
        "definition": task_options.in_file(args.source),
    }
    headers = {"If-Match": str(found["version"])}
    return client.request("PUT", f"/definition/{found['id']}", body, headers=headers).body


def delete(args: Args) -> Any:
    client = connect(args)
    return client.delete(f"/definition/{lookup.definition(client, args.definition)['id']}")


def show_definitions(definitions: Any) -> None:
    rendering.table(
        ("id", "kind", "name*", "tag", "hosts", "changed"),
        (
            (
                each["id"],
                each["kind"],
                each["name"],
                each["host_tag"],
                len(each["instances"]),
                time_words.age(each["last_update"]),
            )
            for each in definitions
        ),
        "No definition yet. Make one with: belvedere definition create task --tag TAG --from FILE",
    )


def show_definition(found: Any) -> None:
    rendering.fields(
        (
            ("id", found["id"]),
            ("kind", found["kind"]),
            ("name", found["name"]),
            ("tag", found["host_tag"]),
            ("version", found["version"]),
            ("hosts", [each["hostname"] for each in found["instances"]]),
            ("changed", time_words.when(found["last_update"])),
        )
    )


def _say(text: str) -> Any:
    return lambda found: print(text.format(name=found["name"], count=len(found["instances"])))


VERBS = (
    Verb("list", listed, "List the definitions.", "belvedere definition list", show_definitions),
    Verb(
        "show",
        one,
        "Show one, and the hosts that have it.",
        "belvedere definition show backup",
        show_definition,
        options=(DEFINITION,),
    ),
    Verb(
        "create",
        create,
        "Define a task or monitor for every host that carries a tag, now or later.",
        "belvedere definition create task --tag web --from backup.json",
        _say("{name} is on {count} hosts."),
        options=(
            option("kind", choices=("task", "monitor"), help="what it is"),
            option("--tag", required=True, metavar="TAG", help="the hosts that shall have it"),
            SOURCE,
        ),
    ),
    Verb(
        "replace",
        replace,
        "Define it anew, on all hosts at once.",
        "belvedere definition replace backup --from backup.json",
        _say("{name} is on {count} hosts."),
        options=(DEFINITION, SOURCE, option("--tag", metavar="TAG", help="another tag")),
    ),
    Verb(
        "delete",
        delete,
        "Delete it with everything that it made.",
        "belvedere definition delete backup",
        _say("{name} is gone from {count} hosts."),
        options=(DEFINITION,),
    ),
)
