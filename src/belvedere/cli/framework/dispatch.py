"""Runs a command: from its words to its exit status."""

import difflib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import sleep as wait
from types import ModuleType
from typing import NoReturn

from belvedere.base.errors import Refused
from belvedere.cli.framework import terminal_text
from belvedere.cli.framework.command import (
    Args,
    Command,
    CommandError,
    command_parser,
    parse,
    parser,
)
from belvedere.client.errors import Problem

INTERRUPTED, BROKEN_PIPE = 130, 141
WATCH_INTERVAL_S = 2.0
# Belvedere is not on PyPI: a package of that name could be somebody else's.
INSTALL_HINT = "install Belvedere again from its repository or wheel, with all its dependencies"
NEXT_STEPS = {"unauthenticated": " Sign in again with: belvedere login"}


def perform(group: str, module: ModuleType, words: Sequence[str]) -> int:
    """Find the command, run it, and show or print its result."""
    if not hasattr(module, "COMMANDS"):
        return _run_module(group, module, words)
    commands: Sequence[Command] = module.COMMANDS
    command = next((command for command in commands if command.name == group), None)
    if command is None:
        if not words or words[0] in ("--help", "-h"):
            print(summary(group, commands))
            return 0 if words else 2
        command = _find_command(group, commands, words[0])
        group, words = f"{group} {words[0]}", words[1:]
    args = parse(command_parser(f"belvedere {group}", command), words)
    if getattr(args, "watch", False):
        _watch(command, args)
    result = _run(command, args)
    _print(command, args, result)
    return command.status(args, result)


def _run(command: Command, args: Args) -> object:
    try:
        return command.run(args)
    finally:
        if "client" in args:
            args.client.close()


def _print(command: Command, args: Args, result: object) -> None:
    from belvedere.cli.framework import rendering

    if getattr(args, "json", False):
        rendering.print_json(result)
    elif command.is_list and _is_filtered(command, args) and not _has_entries(result):
        # The text of an empty list says how to create the first entry.
        rendering.note("Nothing matches these options.")
    else:
        command.show(result)


def _is_filtered(command: Command, args: Args) -> bool:
    filters = [item for item in command.options if item.flags[0].startswith("--")]
    names = [item.flags[0][2:].replace("-", "_") for item in filters]
    return any(getattr(args, name, None) for name in names if name != "limit")


def _has_entries(result: object) -> bool:
    """A list, or several of them by name."""
    return any(result.values()) if isinstance(result, dict) else bool(result)


def _watch(command: Command, args: Args) -> NoReturn:
    """Until Ctrl-C. In a terminal the list is replaced, in a pipe it is printed again."""
    while True:
        result = _run(command, args)
        # The screen is cleared after the request, so that it never stays empty.
        if isinstance(sys.stdout, terminal_text.Terminal):
            sys.stdout.clear()
        _print(command, args, result)
        sys.stdout.flush()
        wait(WATCH_INTERVAL_S)


def _run_module(group: str, module: ModuleType, words: Sequence[str]) -> int:
    """A module with a single command and no table: `register(parser)` and `run(args)`."""
    built = parser(f"belvedere {group}", module.__doc__ or "", getattr(module, "EXAMPLE", ""))
    module.register(built)
    return int(module.run(built.parse_args(words)) or 0)


def _find_command(group: str, commands: Sequence[Command], name: str) -> Command:
    command = next((command for command in commands if command.name == name), None)
    if command is None:
        raise CommandError(
            unknown(f"{group} command", name, [command.name for command in commands]), 2
        )
    return command


def summary(group: str, commands: Sequence[Command]) -> str:
    """The text of `belvedere GROUP --help`."""
    lines = [f"  {command.name:<15} {command.help}" for command in commands]
    return "\n".join((f"usage: belvedere {group} COMMAND [...]", "", *lines))


def unknown(kind: str, name: str, names: Sequence[str]) -> str:
    matches = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {matches[0]}?" if matches else f"use one of: {', '.join(names)}"
    return f"unknown {kind} {name!r}; {hint}"


def report_error(message: str, status: int) -> int:
    print(f"belvedere: {terminal_text.clean(message)}", file=sys.stderr)
    return status


@contextmanager
def _protected_output() -> Iterator[None]:
    """Text from other users that a command prints must not control the user's terminal."""
    plain = sys.stdout
    sys.stdout = terminal_text.protected(plain)
    try:
        yield
    finally:
        used, sys.stdout = sys.stdout, plain
        if isinstance(used, terminal_text.Terminal):
            used.end()


def run_guarded(run_command: Callable[[], int]) -> int:
    """The command's exit status; an expected error ends in one line, never in a traceback."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")
        with _protected_output():
            status = run_command()
            sys.stdout.flush()
        return status
    except CommandError as error:
        return report_error(error.message, error.status)
    except Refused as refusal:
        return report_error(error_text(refusal), 1)
    except ModuleNotFoundError as missing:
        # An upgrade copied the package without installing a library that it needs now.
        if missing.name is None or missing.name.startswith("belvedere"):
            raise
        return report_error(f"{missing.name} is not installed; {INSTALL_HINT}", 1)
    except KeyboardInterrupt:
        return report_error("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # The reader has exited; the interpreter's final flush must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as fault:
        # For example a folder that is not writable, a full disk, a port that is in use.
        where = f"{fault.filename}: " if fault.filename else ""
        return report_error(f"{where}{fault.strerror or fault}", 1)


def error_text(error: Refused) -> str:
    """The message, the invalid fields, and the next step where there is one."""
    faults = [
        f"\n  {fault.field}: {fault.message}"
        for fault in error.faults
        if fault.message not in error.message
    ]
    request = ""
    if isinstance(error, Problem) and error.status >= 500 and error.request_id:
        request = f" ({error.request_id})"
    return error.message + request + "".join(faults) + NEXT_STEPS.get(error.code, "")
