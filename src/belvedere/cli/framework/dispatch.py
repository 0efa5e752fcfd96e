"""One command from its words to its exit status."""

import difflib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType

from belvedere.base.errors import Refused
from belvedere.cli.framework import terminal_text
from belvedere.cli.framework.command import Stop, Verb, parse, parser, parser_of
from belvedere.client.errors import Problem

INTERRUPTED, BROKEN_PIPE = 130, 141
INSTALL = "complete the installation with: pip install belvedere"
NEXT_STEPS = {"unauthenticated": " Sign in again with: belvedere login"}


def perform(noun: str, module: ModuleType, words: Sequence[str]) -> int:
    """Find the verb, ask, and show or print the answer."""
    if not hasattr(module, "VERBS"):
        return _plain(noun, module, words)
    verbs: Sequence[Verb] = module.VERBS
    single = next((verb for verb in verbs if verb.name == noun), None)
    if single is None:
        if not words or words[0] in ("--help", "-h"):
            print(summary(noun, verbs))
            return 0 if words else 2
        single = _verb(noun, verbs, words[0])
        noun, words = f"{noun} {words[0]}", words[1:]
    args = parse(parser_of(f"belvedere {noun}", single), words)
    try:
        answer = single.ask(args)
    finally:
        if "client" in args:
            args.client.close()
    if getattr(args, "json", False):
        from belvedere.cli.framework import rendering as show

        show.as_json(answer)
    else:
        single.show(answer)
    return single.status(args, answer)


def _plain(noun: str, module: ModuleType, words: Sequence[str]) -> int:
    """A module with one command and its own ways: `register(parser)` and `run(args)`."""
    made = parser(f"belvedere {noun}", module.__doc__ or "", getattr(module, "EXAMPLE", ""))
    module.register(made)
    return int(module.run(made.parse_args(words)) or 0)


def _verb(noun: str, verbs: Sequence[Verb], word: str) -> Verb:
    found = next((verb for verb in verbs if verb.name == word), None)
    if found is None:
        raise Stop(unknown(f"{noun} command", word, [verb.name for verb in verbs]), 2)
    return found


def summary(noun: str, verbs: Sequence[Verb]) -> str:
    """What `belvedere NOUN --help` says."""
    lines = [f"  {verb.name:<15} {verb.help}" for verb in verbs]
    return "\n".join((f"usage: belvedere {noun} COMMAND [...]", "", *lines))


def unknown(what: str, word: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(word, known, 1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
    return f"there is no {what} {word!r}; {hint}"


def complain(message: str, status: int) -> int:
    print(f"belvedere: {terminal_text.clean(message)}", file=sys.stderr)
    return status


@contextmanager
def _protected_output() -> Iterator[None]:
    """Whatever a command prints of what others wrote, it does not control a person's terminal."""
    plain = sys.stdout
    sys.stdout = terminal_text.protected(plain)
    try:
        yield
    finally:
        used, sys.stdout = sys.stdout, plain
        if isinstance(used, terminal_text.Terminal):
            used.end()


def guarded(work: Callable[[], int]) -> int:
    """The status of `work`; what was to be expected ends in one line, never in a traceback."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")
        with _protected_output():
            status = work()
            sys.stdout.flush()
        return status
    except Stop as stop:
        return complain(stop.message, stop.status)
    except Refused as refusal:
        return complain(told(refusal), 1)
    except ModuleNotFoundError as missing:
        # A release gained a library, and somebody took over its files alone.
        if missing.name is None or missing.name.startswith("belvedere"):
            raise
        return complain(f"{missing.name} is not installed; {INSTALL}", 1)
    except KeyboardInterrupt:
        return complain("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # The reader has gone; the interpreter must not trip over it again when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as fault:
        # A folder that cannot be written, a full disk, a port that is taken: the machine says no.
        where = f"{fault.filename}: " if fault.filename else ""
        return complain(f"{where}{fault.strerror or fault}", 1)


def told(refusal: Refused) -> str:
    """The refusal's sentence, the fields at fault, and the next step where there is a known one."""
    faults = [
        f"\n  {fault.field}: {fault.message}"
        for fault in refusal.faults
        if fault.message not in refusal.message
    ]
    request = ""
    if isinstance(refusal, Problem) and refusal.status >= 500 and refusal.request_id:
        request = f" ({refusal.request_id})"
    return refusal.message + request + "".join(faults) + NEXT_STEPS.get(refusal.code, "")
