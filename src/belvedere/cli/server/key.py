"""`belvedere key`: the installation's key, on the server's machine."""

from typing import Any

from belvedere.cli.framework import rendering
from belvedere.cli.framework.command import Args, Verb, option
from belvedere.cli.server.operator_client import OPTIONS, ask_operator


def shown(args: Args) -> Any:
    return ask_operator(args, "/key", {})


def add(args: Args) -> Any:
    return ask_operator(args, "/key/add", {})


def rotate(args: Args) -> Any:
    """A new key unless one waits; then batch by batch, so that it can be repeated."""
    before = ask_operator(args, "/key", {})
    if len(before["keys"]) == 1:
        ask_operator(args, "/key/add", {})
    resealed = 0
    while True:
        turn = ask_operator(args, "/key/rotate", {})
        resealed += turn["resealed"]
        if not turn["left"]:
            break
        if not turn["resealed"]:
            return {**turn, "resealed": resealed, "dropped": 0}
    dropped = 0 if args.keep else ask_operator(args, "/key/drop", {})["dropped"]
    return {**turn, "resealed": resealed, "dropped": dropped}


def drop(args: Args) -> Any:
    return ask_operator(args, "/key/drop", {})


def show_keys(found: Any) -> None:
    rendering.table(
        ("key", "in use", "values"),
        (
            (one["name"] or "first", "yes" if one["name"] == found["in_use"] else "", one["sealed"])
            for one in found["keys"]
        ),
    )


def show_rotated(found: Any) -> None:
    print(f"{found['resealed']} values are sealed anew with the key {found['key']}.")
    if found["left"]:
        print(f"{found['left']} are not yet; say it again.")
    print(f"{found['dropped']} older keys are dropped.")


def show_added(found: Any) -> None:
    print(f"The key {found['key']} is there. Nothing is sealed with it yet.")
    rendering.note(
        "Copy secret.key to every other server and restart it; then: belvedere key rotate"
    )


VERBS = (
    Verb(
        "show",
        shown,
        "List the keys in secret.key, and how many values each seals.",
        "belvedere key show --data /var/lib/belvedere",
        show_keys,
        options=OPTIONS,
        is_remote=False,
    ),
    Verb(
        "add",
        add,
        "Make a new key, for several servers: copy secret.key to each before you rotate.",
        "belvedere key add",
        show_added,
        options=OPTIONS,
        is_remote=False,
    ),
    Verb(
        "rotate",
        rotate,
        "Seal every secret anew with a new key, and drop the old one. It can be repeated.",
        "belvedere key rotate",
        show_rotated,
        options=(option("--keep", action="store_true", help="do not drop the old key"), *OPTIONS),
        is_remote=False,
    ),
    Verb(
        "drop",
        drop,
        "Drop keys that seal nothing any more, on servers where it was not rotated.",
        "belvedere key drop",
        lambda found: print(f"{found['dropped']} older keys are dropped."),
        options=OPTIONS,
        is_remote=False,
    ),
)
