"""A command is data: a row from which the parser, the help text and the reference page are made."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

Args = argparse.Namespace
# A JSON object as the server sends it. Commands only print its fields, and `--json` prints all of
# it, so that fields of a newer server pass through: no type lists them a second time.
Record = dict[str, Any]
# Prints what `Command.run` of the same row returned.
Show = Callable[[Any], None]


class CommandError(Exception):
    """Ends the command with a one-line message. Exit status: 1 for an error, 2 for wrong usage."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


@dataclass(frozen=True, slots=True)
class CommandOption:
    """An argument or option, with the settings of argparse's `add_argument`."""

    flags: tuple[str, ...]
    settings: Record


def option(*flags: str, **settings: object) -> CommandOption:
    return CommandOption(flags, settings)


def _show_nothing(_: object) -> None:
    """For commands that print while they run."""


def _zero(_: Args, __: object) -> int:
    return 0


@dataclass(frozen=True, slots=True)
class Command:
    """A command: `run` returns a result, which `show` prints for people, or which is printed as
    JSON."""

    name: str
    run: Callable[[Args], object]
    help: str
    example: str
    show: Show = _show_nothing
    options: Sequence[CommandOption] = field(default=())
    # The exit status that follows from the result.
    status: Callable[[Args, Any], int] = _zero
    # It connects to a server, so it has --server, --customer and --ca-file.
    is_remote: bool = True
    has_json: bool = True

    @property
    def is_list(self) -> bool:
        """Whether it can be repeated with --watch."""
        return self.is_remote and self.name in LIST_COMMANDS


# Not `job files`, which also downloads.
LIST_COMMANDS = (
    *("list", "audit", "jobs", "steps", "held", "runs", "deliveries"),
    *("channels", "rules", "messages", "inbox", "invitations"),
)
REMOTE_OPTIONS = (
    option("--server", metavar="URL", help="address of the server (default: from your login)"),
    option("--customer", metavar="NAME", help="the organization (default: from your login)"),
    option("--ca-file", metavar="FILE", help="trust the certificate authorities in this PEM file"),
)
WATCH_OPTION = option(
    "--watch", action="store_true", help="show the list again every 2 seconds, until Ctrl-C"
)
JSON_OPTION = option("--json", action="store_true", help="print the server's response as JSON")


class Parser(argparse.ArgumentParser):
    """Reports wrong usage in one line, like every other error, in words instead of Python's."""

    def error(self, message: str) -> NoReturn:
        raise CommandError(f"{message} (see {self.prog} --help)", 2)


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be an integer, not {text!r}") from None


def parser(path: str, help_text: str, example: str) -> Parser:
    new_parser = Parser(
        prog=path,
        description=help_text,
        epilog=f"example:\n  {example}" if example else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    new_parser.register("type", int, _integer)
    return new_parser


def command_parser(path: str, command: Command) -> Parser:
    built = parser(path, command.help, command.example)
    common = (
        *(REMOTE_OPTIONS if command.is_remote else ()),
        *((JSON_OPTION,) if command.has_json else ()),
        *((WATCH_OPTION,) if command.is_list else ()),
    )
    for item in (*command.options, *common):
        action = built.add_argument(*item.flags, **item.settings)
        # argparse names a list that may be empty among the missing arguments.
        action.required = action.required and action.nargs != "*"
    return built


def parse(built: Parser, words: Sequence[str]) -> Args:
    """Options and arguments in any order; everything after `--` belongs to the last argument."""
    last = next((a.dest for a in built._actions if a.nargs == "*" and not a.option_strings), None)
    if last is None or "--" not in words:
        return built.parse_intermixed_args(words)
    # argparse drops a second `--`, which may be meant for the script.
    cut = list(words).index("--")
    args = built.parse_intermixed_args(words[:cut])
    setattr(args, last, [*getattr(args, last), *words[cut + 1 :]])
    return args
