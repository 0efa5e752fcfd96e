"""A task's definition, from options and files."""

import difflib
import json
import sys
from pathlib import Path

from belvedere.cli.framework import time_words
from belvedere.cli.framework.command import Args, CommandError, Record, option

OPTIONS = (
    option("--from", dest="source", metavar="FILE", help="fields as a JSON object; - is stdin"),
    option("--script", metavar="FILE", help="the script to run"),
    option("--runas", metavar="WORDS", help="how to start it, for example 'python3 -u %%script%%'"),
    option("--description", metavar="TEXT", help="what it does"),
    option(
        "--argument",
        action="append",
        metavar="LABEL[:KIND[=VALUE]]",
        help="define an argument, in order: 'colour', 'size:select=s,m,l', 'mode:fixed=fast'",
    ),
    option(
        "--env",
        action="append",
        metavar="NAME=VALUE",
        help="an environment variable for the script",
    ),
    option(
        "--approver",
        action="append",
        metavar="WHO",
        help="a member who may approve it (approval tasks); can be repeated",
    ),
    option("--four-eyes", action="store_true", help="the person who starts it may not approve it"),
    option("--set", action="append", metavar="FIELD=JSON", help="any other field of the task"),
)


def fields(args: Args) -> Record:
    """The fields of a task; options override the file."""
    values: Record = in_file(args.source) if args.source else {}
    if args.script:
        path = Path(args.script)
        values.pop("script_id", None)
        values["script"] = {"filename": path.name, "source": _text(args.script)}
    if args.runas is not None:
        values["script_runas"] = args.runas
    if args.description is not None:
        values["description"] = args.description
    if args.argument:
        values["task_arguments"] = [argument(n, text) for n, text in enumerate(args.argument)]
    if args.env:
        values["env"] = dict(_pair(text, "--env") for text in args.env)
    if args.approver:
        values["approvers"] = args.approver
    if args.four_eyes:
        values["four_eyes"] = True
    changes = [_pair(text, "--set") for text in args.set or ()]
    if args.source or changes:
        _check_names(list(values), [name for name, _ in changes])
    return values | {name: _value(value) for name, value in changes}


def _check_names(in_file: list[str], in_options: list[str]) -> None:
    """The server ignores unknown fields, as TheEye does; people would not notice a typing error."""
    # Only here: the server's packages take long to import.
    import msgspec

    from belvedere.tasks.bodies import TaskBody
    from belvedere.tasks.records import TaskRecord

    writable = [field.encode_name for field in msgspec.structs.fields(TaskBody)]
    readable = [field.encode_name for field in msgspec.structs.fields(TaskRecord)]
    for names, fields in ((in_options, writable), (in_file, [*writable, *readable, "_id"])):
        for name in names:
            if name not in fields:
                raise CommandError(_unknown_name(name, writable), 2)


def _unknown_name(name: str, field_names: list[str]) -> str:
    nearest = difflib.get_close_matches(name, field_names, n=1)
    hint = f"did you mean {nearest[0]}?" if nearest else "`belvedere task show --json` shows all."
    return f"A task has no field {name!r}; {hint}"


def in_file(path: str) -> Record:
    """A JSON object; `-` is standard input."""
    return _object(_text(path), path)


def argument(order: int, text: str) -> Record:
    """LABEL, LABEL:KIND or LABEL:KIND=VALUE as an argument's definition."""
    label, _, type_and_value = text.partition(":")
    kind, _, value = type_and_value.partition("=")
    definition: Record = {"order": order, "label": label, "type": kind or "input"}
    if definition["type"] == "select":
        definition["options"] = [
            {"id": choice, "label": choice, "order": n} for n, choice in enumerate(value.split(","))
        ]
    elif value:
        definition["pattern" if definition["type"] == "regexp" else "value"] = value
    return definition


def timeout_ms(text: str) -> int | None:
    """A duration; `default` resets the timeout to the default."""
    return None if text == "default" else time_words.duration_ms(text)


def _pair(text: str, flag: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise CommandError(f"{flag} needs NAME=VALUE, not {text!r}.", 2)
    return name, value


def _value(text: str) -> object:
    """The decoded JSON, or the text if it is not JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _text(path: str) -> str:
    try:
        return sys.stdin.read() if path == "-" else Path(path).read_text()
    except UnicodeDecodeError:
        raise CommandError(f"{path} is not UTF-8 text.") from None
    except OSError as fault:
        raise CommandError(f"Cannot read {path} ({fault.strerror}).") from None


def _object(text: str, path: str) -> Record:
    try:
        value = json.loads(text)
    except ValueError as fault:
        raise CommandError(f"{path} is not JSON: {fault}.") from None
    if not isinstance(value, dict):
        raise CommandError(f"{path} must contain a JSON object.")
    return value
