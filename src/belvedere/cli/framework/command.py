"""What a command is: a row of facts that becomes a parser, a help text and a reference page."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

Args = argparse.Namespace


class Stop(Exception):
    """Ends the command with one line for the person: 1 for a refusal, 2 for wrong usage."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


@dataclass(frozen=True, slots=True)
class Option:
    """An argument or option, in argparse's own words."""

    flags: tuple[str, ...]
    settings: dict[str, Any]


def option(*flags: str, **settings: Any) -> Option:
    return Option(flags, settings)


def _nothing(_: Any) -> None:
    """For commands that have said everything while they ran."""


def _zero(_: Args, __: Any) -> int:
    return 0


@dataclass(frozen=True, slots=True)
class Verb:
    """One command: it asks for an answer, which is shown to a person or printed as JSON."""

    name: str
    ask: Callable[[Args], Any]
    help: str
    example: str
    show: Callable[[Any], None] = _nothing
    options: Sequence[Option] = field(default=())
    # The exit status that follows from the answer.
    status: Callable[[Args, Any], int] = _zero
    # Talks to a server, so it takes --server, --customer and --ca-file.
    is_remote: bool = True
    has_json: bool = True


REMOTE = (
    option("--server", metavar="URL", help="the server's address; default: that of your login"),
    option("--customer", metavar="NAME", help="the organization; default: that of your login"),
    option("--ca-file", metavar="FILE", help="trust the authorities in this PEM file"),
)
JSON = option("--json", action="store_true", help="print what the server answered, for programs")


class Parser(argparse.ArgumentParser):
    """Complains in one line, like everything else here."""

    def error(self, message: str) -> NoReturn:
        raise Stop(f"{message} (see {self.prog} --help)", 2)


def parser(path: str, help_text: str, example: str) -> Parser:
    return Parser(
        prog=path,
        description=help_text,
        epilog=f"example:\n  {example}" if example else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def parser_of(path: str, verb: Verb) -> Parser:
    made = parser(path, verb.help, verb.example)
    common = (*(REMOTE if verb.is_remote else ()), *((JSON,) if verb.has_json else ()))
    for each in (*verb.options, *common):
        made.add_argument(*each.flags, **each.settings)
    return made


def parse(made: Parser, words: Sequence[str]) -> Args:
    """Options and arguments in any order; after `--` everything belongs to the last argument."""
    rest = next((a.dest for a in made._actions if a.nargs == "*" and not a.option_strings), None)
    if rest is None or "--" not in words:
        return made.parse_intermixed_args(words)
    # argparse itself drops a second `--`, which may well be meant for the script.
    cut = list(words).index("--")
    args = made.parse_intermixed_args(words[:cut])
    setattr(args, rest, [*getattr(args, rest), *words[cut + 1 :]])
    return args
