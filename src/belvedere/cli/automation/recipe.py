"""`belvedere import`: what this or the original system exported."""

import json
from pathlib import Path
from typing import Any

from belvedere.cli.framework import rendering
from belvedere.cli.framework.command import Args, Stop, Verb, option
from belvedere.cli.framework.profile import connect


def recipe(args: Args) -> Any:
    said = _read(args.file)
    query = {"hostname": args.host} if args.host else {}
    return connect(args).request("POST", "/workflows/import", said, query=query).body


def _read(path: str) -> Any:
    try:
        return json.loads(Path(path).read_text())
    except OSError as fault:
        raise Stop(f"{path} cannot be read ({fault.strerror}).") from None
    except ValueError as fault:
        raise Stop(f"{path} is not JSON: {fault}.") from None


def print_one(said: Any) -> None:
    """A recipe, as a file should hold it."""
    print(json.dumps(said, indent=2, ensure_ascii=False))


def show_made(made: Any) -> None:
    for task in made["tasks"]:
        print(f"Task {task['name']} is made ({task['id']}).")
    if made["workflow"]:
        flow = made["workflow"]
        print(f"Workflow {flow['name']} is made ({flow['id']}).")
    for note in made["notes"]:
        rendering.note(note)


VERBS = (
    Verb(
        "recipe",
        recipe,
        "Make the task or workflow that this or the original system exported as a recipe.",
        "belvedere import recipe deploy.json --host web-1",
        show_made,
        options=(
            option("file", metavar="FILE", help="the recipe, a JSON file"),
            option("--host", metavar="HOST", help="the host on which its tasks run"),
        ),
    ),
)
