"""A task's definition, from options and files."""

import json
import sys
from pathlib import Path
from typing import Any

from belvedere.cli.framework import time_words
from belvedere.cli.framework.command import Args, Stop, option

Fields = dict[str, Any]

OPTIONS = (
    option("--from", dest="source", metavar="FILE", help="fields as a JSON object; - is stdin"),
    option("--script", metavar="FILE", help="the script to run"),
    option("--runas", metavar="WORDS", help="how to start it, like 'python3 -u %%script%%'"),
    option("--description", metavar="TEXT", help="what it does, for people"),
    option(
        "--argument",
        action="append",
        metavar="LABEL[:KIND[=VALUE]]",
        help="define an argument, in order: 'colour', 'size:select=s,m,l', 'mode:fixed=fast'",
    ),
    option("--env", action="append", metavar="NAME=VALUE", help="a variable for the script"),
    option("--approver", action="append", metavar="WHO", help="who may approve (approval tasks)"),
    option("--four-eyes", action="store_true", help="who starts it may not approve it"),
    option("--set", action="append", metavar="FIELD=JSON", help="any other field of the record"),
)


def fields(args: Args) -> Fields:
    """What was said about the task; options win over the file."""
    said: Fields = in_file(args.source) if args.source else {}
    if args.script:
        path = Path(args.script)
        said.pop("script_id", None)
        said["script"] = {"filename": path.name, "source": _text(args.script)}
    if args.runas is not None:
        said["script_runas"] = args.runas
    if args.description is not None:
        said["description"] = args.description
    if args.argument:
        said["task_arguments"] = [argument(n, text) for n, text in enumerate(args.argument)]
    if args.env:
        said["env"] = dict(_pair(text, "--env") for text in args.env)
    if args.approver:
        said["approvers"] = args.approver
    if args.four_eyes:
        said["four_eyes"] = True
    for text in args.set or ():
        name, value = _pair(text, "--set")
        said[name] = _value(value)
    return said


def in_file(path: str) -> Fields:
    """One JSON object; `-` is standard input."""
    return _object(_text(path), path)


def argument(order: int, text: str) -> Fields:
    """LABEL, LABEL:KIND or LABEL:KIND=VALUE as an argument's definition."""
    label, _, rest = text.partition(":")
    kind, _, value = rest.partition("=")
    made: Fields = {"order": order, "label": label, "type": kind or "input"}
    if made["type"] == "select":
        made["options"] = [
            {"id": choice, "label": choice, "order": n} for n, choice in enumerate(value.split(","))
        ]
    elif value:
        made["pattern" if made["type"] == "regexp" else "value"] = value
    return made


def timeout_ms(text: str) -> int | None:
    """A duration; `default` gives the task the default again."""
    return None if text == "default" else time_words.duration_ms(text)


def _pair(text: str, flag: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise Stop(f"{flag} takes NAME=VALUE, not {text!r}.", 2)
    return name, value


def _value(text: str) -> Any:
    """JSON where it is JSON, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _text(path: str) -> str:
    try:
        return sys.stdin.read() if path == "-" else Path(path).read_text()
    except UnicodeDecodeError:
        raise Stop(f"{path} is not text in UTF-8.") from None
    except OSError as fault:
        raise Stop(f"{path} cannot be read ({fault.strerror}).") from None


def _object(text: str, path: str) -> Fields:
    try:
        found = json.loads(text)
    except ValueError as fault:
        raise Stop(f"{path} is not JSON: {fault}.") from None
    if not isinstance(found, dict):
        raise Stop(f"{path} must hold one JSON object.")
    return found
