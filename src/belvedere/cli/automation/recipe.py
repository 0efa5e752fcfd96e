"""`belvedere import`: import recipes of Belvedere or TheEye."""

import json
from pathlib import Path

from belvedere.cli.framework import rendering
from belvedere.cli.framework.command import Args, Command, CommandError, Record, option
from belvedere.cli.framework.profile import connect


def recipe(args: Args) -> object:
    document = _read(args.file)
    query = {"hostname": args.host} if args.host else {}
    return connect(args).request("POST", "/workflows/import", document, query=query).body


def _read(path: str) -> object:
    try:
        return json.loads(Path(path).read_text())
    except OSError as fault:
        raise CommandError(f"Cannot read {path} ({fault.strerror}).") from None
    except ValueError as fault:
        raise CommandError(f"{path} is not JSON: {fault}.") from None


def print_recipe(document: object) -> None:
    """A recipe in the format of a recipe file."""
    print(json.dumps(document, indent=2, ensure_ascii=False))


def show_imported(result: Record) -> None:
    for task in result["tasks"]:
        print(f"Task {task['name']} created ({task['id']}).")
    if result["workflow"]:
        workflow = result["workflow"]
        print(f"Workflow {workflow['name']} created ({workflow['id']}).")
    for note in result["notes"]:
        rendering.note(note)
    for field in result["not_imported"]:
        rendering.note(_not_imported(field))


def _not_imported(field: Record) -> str:
    value = f" {field['value']}" if field["value"] else ""
    return f"not imported: {field['part']}: {field['field']}{value}. {field['reason']}"


COMMANDS = (
    Command(
        "recipe",
        recipe,
        "Create a task or workflow from a recipe that Belvedere or TheEye exported.",
        "belvedere import recipe deploy.json --host web-1",
        show_imported,
        options=(
            option("file", metavar="FILE", help="the recipe, a JSON file"),
            option("--host", metavar="HOST", help="the host that runs its tasks"),
        ),
    ),
)
