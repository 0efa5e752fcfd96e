"""`belvedere key`: the installation's encryption keys, on the server's machine."""

from belvedere.cli.framework import rendering
from belvedere.cli.framework.command import Args, Command, Record, option
from belvedere.cli.server.operator_client import OPTIONS, call_operator


def show(args: Args) -> object:
    return call_operator(args, "/key", {})


def add(args: Args) -> object:
    return call_operator(args, "/key/add", {})


def rotate(args: Args) -> object:
    """Add a key unless one is pending, then re-encrypt in batches; it can be repeated."""
    before = call_operator(args, "/key", {})
    if len(before["keys"]) == 1:
        call_operator(args, "/key/add", {})
    resealed = 0
    while True:
        progress = call_operator(args, "/key/rotate", {})
        resealed += progress["resealed"]
        if not progress["left"]:
            break
        if not progress["resealed"]:
            return {**progress, "resealed": resealed, "dropped": 0, "unreadable": progress["left"]}
    dropped = 0 if args.keep else call_operator(args, "/key/drop", {})["dropped"]
    return {**progress, "resealed": resealed, "dropped": dropped}


def check(args: Args) -> object:
    return call_operator(args, "/key/check", {})


def drop(args: Args) -> object:
    return call_operator(args, "/key/drop", {"skip_unreadable": args.skip_unreadable})


def show_keys(result: Record) -> None:
    rendering.table(
        ("key", "in use", "values"),
        (
            (
                key["name"] or "first",
                "yes" if key["name"] == result["in_use"] else "",
                key["sealed"],
            )
            for key in result["keys"]
        ),
    )


def show_rotated(result: Record) -> None:
    print(f"{result['resealed']} values were re-encrypted with the key {result['key']}.")
    if result.get("unreadable"):
        print(
            f"{result['unreadable']} values cannot be decrypted with any key and were not changed."
        )
        rendering.note("List them: belvedere key check")
    print(f"Old keys dropped: {result['dropped']}.")


def show_unreadable(result: Record) -> None:
    """One line per value; a row is identified by the values of its columns."""
    rendering.table(
        ("table", "column", "row", "organization"),
        (
            (
                value["table"],
                value["column"],
                ", ".join(f"{name}={text}" for name, text in value["row"].items()),
                value["organization"],
            )
            for value in result["values"]
        ),
    )
    print(f"{result['unreadable']} values cannot be decrypted with any key in secret.key.")


def show_dropped(result: Record) -> None:
    print(f"Old keys dropped: {result['dropped']}.")
    if result["unreadable"]:
        print(f"{result['unreadable']} values that no key can decrypt were not changed.")


def show_added(result: Record) -> None:
    print(f"Key {result['key']} added. Nothing is encrypted with it yet.")
    rendering.note(
        "Copy secret.key to every other server and restart it; then: belvedere key rotate"
    )


COMMANDS = (
    Command(
        "show",
        show,
        "List the keys in secret.key, and how many values each encrypts.",
        "belvedere key show --data /var/lib/belvedere",
        show_keys,
        options=OPTIONS,
        is_remote=False,
    ),
    Command(
        "add",
        add,
        "Add a new key; with several servers, copy secret.key to each before you rotate.",
        "belvedere key add",
        show_added,
        options=OPTIONS,
        is_remote=False,
    ),
    Command(
        "rotate",
        rotate,
        "Re-encrypt every secret with a new key, and drop the old key. Safe to run again.",
        "belvedere key rotate",
        show_rotated,
        options=(option("--keep", action="store_true", help="do not drop the old key"), *OPTIONS),
        is_remote=False,
    ),
    Command(
        "check",
        check,
        "List values that no key in secret.key can decrypt; old keys are kept while there are any.",
        "belvedere key check",
        show_unreadable,
        options=OPTIONS,
        is_remote=False,
    ),
    Command(
        "drop",
        drop,
        "Drop keys that no longer encrypt anything, on servers where you did not run rotate.",
        "belvedere key drop",
        show_dropped,
        options=(
            option(
                "--skip-unreadable",
                action="store_true",
                help="drop them even if some values cannot be decrypted with any key",
            ),
            *OPTIONS,
        ),
        is_remote=False,
    ),
)
