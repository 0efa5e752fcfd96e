"""`belvedere definition`: one task or monitor for every host with a tag."""

from belvedere.cli.automation import task_options
from belvedere.cli.framework import lookup, rendering, time_words
from belvedere.cli.framework.command import Args, Command, Record, Show, option
from belvedere.cli.framework.profile import connect

DEFINITION = option("definition", metavar="DEFINITION", help="its name or id")
SOURCE = option(
    "--from",
    dest="source",
    metavar="FILE",
    required=True,
    help="the task or monitor as a JSON object, without a host; - is stdin",
)


def list_all(args: Args) -> object:
    return connect(args).get("/definition")


def get(args: Args) -> object:
    client = connect(args)
    return client.get(f"/definition/{lookup.definition(client, args.definition)['id']}")


def create(args: Args) -> object:
    body = {
        "kind": args.kind,
        "host_tag": args.tag,
        "definition": task_options.in_file(args.source),
    }
    return connect(args).post("/definition", body)


def replace(args: Args) -> object:
    """Unless the definition was changed in the meantime."""
    client = connect(args)
    definition = lookup.definition(client, args.definition)
    body = {
        "kind": definition["kind"],
        "host_tag": args.tag or definition["host_tag"],
        "definition": task_options.in_file(args.source),
    }
    headers = {"If-Match": str(definition["version"])}
    return client.request("PUT", f"/definition/{definition['id']}", body, headers=headers).body


def delete(args: Args) -> object:
    client = connect(args)
    return client.delete(f"/definition/{lookup.definition(client, args.definition)['id']}")


def show_definitions(definitions: list[Record]) -> None:
    rendering.table(
        ("id", "kind", "name*", "tag", "hosts", "changed"),
        (
            (
                definition["id"],
                definition["kind"],
                definition["name"],
                definition["host_tag"],
                len(definition["instances"]),
                time_words.age(definition["last_update"]),
            )
            for definition in definitions
        ),
        "No definitions yet. Create one with:"
        " belvedere definition create task --tag TAG --from FILE",
    )


def show_definition(definition: Record) -> None:
    rendering.fields(
        (
            ("id", definition["id"]),
            ("kind", definition["kind"]),
            ("name", definition["name"]),
            ("tag", definition["host_tag"]),
            ("version", definition["version"]),
            ("hosts", [instance["hostname"] for instance in definition["instances"]]),
            ("changed", time_words.when(definition["last_update"])),
        )
    )


def _confirmation(text: str) -> Show:
    return lambda definition: print(
        text.format(name=definition["name"], hosts=_host_count(len(definition["instances"])))
    )


def _host_count(count: int) -> str:
    return "1 host" if count == 1 else f"{count} hosts"


COMMANDS = (
    Command("list", list_all, "List definitions.", "belvedere definition list", show_definitions),
    Command(
        "show",
        get,
        "Show a definition and its hosts.",
        "belvedere definition show backup",
        show_definition,
        options=(DEFINITION,),
    ),
    Command(
        "create",
        create,
        "Define a task or monitor for every host with a tag, now and in the future.",
        "belvedere definition create task --tag web --from backup.json",
        _confirmation("{name} is on {hosts}."),
        options=(
            option("kind", choices=("task", "monitor"), help="the kind"),
            option("--tag", required=True, metavar="TAG", help="the tag of the hosts"),
            SOURCE,
        ),
    ),
    Command(
        "replace",
        replace,
        "Replace a definition on all its hosts.",
        "belvedere definition replace backup --from backup.json",
        _confirmation("{name} is on {hosts}."),
        options=(DEFINITION, SOURCE, option("--tag", metavar="TAG", help="the new tag")),
    ),
    Command(
        "delete",
        delete,
        "Delete a definition with its tasks or monitors.",
        "belvedere definition delete backup",
        _confirmation("{name} deleted from {hosts}."),
        options=(DEFINITION,),
    ),
)
