"""Every command there is, for the documentation and its test."""

import argparse
from collections.abc import Iterator
from typing import NamedTuple

from belvedere.cli import main
from belvedere.cli.framework.command import Parser, parser, parser_of


class Page(NamedTuple):
    """One command: what is typed, what it does, how it is called, and an example."""

    path: str
    help: str
    example: str
    made: Parser


def commands() -> list[tuple[str, str]]:
    """Each command as it is typed, with its help."""
    return [(page.path, page.help) for page in pages()]


def pages() -> Iterator[Page]:
    for noun in main.NOUNS:
        module = main.module_of(noun)
        if not hasattr(module, "VERBS"):
            path, example = f"belvedere {noun.name}", getattr(module, "EXAMPLE", "")
            made = parser(path, noun.help, "")
            module.register(made)
            yield Page(path, f"{noun.help[0].upper()}{noun.help[1:]}.", example, made)
            continue
        alone = [verb for verb in module.VERBS if verb.name == noun.name]
        for verb in alone or module.VERBS:
            path = f"belvedere {noun.name}" if alone else f"belvedere {noun.name} {verb.name}"
            yield Page(path, verb.help, verb.example, parser_of(path, verb))


def write_reference() -> str:
    """The reference page of the command line, in markdown."""
    parts = [
        "# Command line",
        "",
        "Written by `belvedere.cli.reference`; every command also explains itself with `--help`.",
        "",
        *_statuses(),
    ]
    for page in pages():
        parts += ["", f"## {page.path}", "", page.help, "", "```", _usage(page.made), "```", ""]
        rows = [_row(each) for each in page.made._actions if each.dest != "help"]
        if rows:
            parts += ["| Argument | Meaning |", "|---|---|", *rows, ""]
        if page.example:
            parts += ["```", f"$ {page.example}", "```"]
    return "\n".join(parts).rstrip() + "\n"


def _statuses() -> list[str]:
    return [
        "| Exit status | Meaning |",
        "|---|---|",
        "| 0 | it worked; with `--follow` or `--wait`: the job ended normal or success |",
        "| 1 | the server refused, or nobody answered; the line on stderr says why |",
        "| 2 | wrong usage, or a name that fits several things |",
        "| 1 to 255 | with `--follow` or `--wait`: the code of a script that failed |",
        "| 124 | the job was stopped at its timeout |",
        "| 125 | the job is lost, or could not be started |",
        "| 130 | the job was canceled, or you pressed Ctrl-C (the job goes on) |",
        "",
        "| Environment | Meaning |",
        "|---|---|",
        "| `BELVEDERE_SERVER` | the server's address; wins over that of your login |",
        "| `BELVEDERE_TOKEN` | the credential; wins over that of your login |",
        "| `BELVEDERE_CUSTOMER` | the organization; wins over that of your login |",
        "| `BELVEDERE_CA_FILE` | trust the authorities in this PEM file |",
        "| `NO_COLOR` | no colours |",
        "",
        "On a terminal only text, colours, newlines and tabs of logs, names and errors are shown;",
        "other control sequences are dropped. A file or a pipe gets a log byte for byte.",
    ]


def _usage(made: Parser) -> str:
    """In one line, because argparse would wrap it by the width of whoever's terminal."""
    words = [made.prog]
    for each in made._actions:
        if each.dest == "help":
            continue
        name = each.option_strings[0] if each.option_strings else _value(each)
        if each.option_strings and each.nargs != 0:
            name = f"{name} {_value(each)}"
        if not each.required or each.nargs in ("*", "?"):
            name = f"[{name}]"
        words.append(name)
    return " ".join(words)


def _value(each: argparse.Action) -> str:
    name = str(each.metavar or ("|".join(each.choices) if each.choices else each.dest.upper()))
    return f"{name} ..." if each.nargs == "*" else name


def _row(each: argparse.Action) -> str:
    name = _value(each)
    if each.option_strings:
        name = f"{each.option_strings[0]} {name if each.nargs != 0 else ''}".strip()
    return f"| `{_cell(name)}` | {_cell(each.help or '')} |"


def _cell(text: str) -> str:
    return text.replace("%%", "%").replace("|", "\\|")
