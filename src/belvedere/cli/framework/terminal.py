"""Asking the person, on a terminal or through a pipe."""

import getpass
import sys

from belvedere.cli.framework.command import Stop


def line(question: str) -> str:
    """One line; in a pipe the next one of standard input, without the question."""
    if sys.stdin.isatty():
        print(question, end="", file=sys.stderr, flush=True)
    return _given(sys.stdin.readline().strip())


def secret(question: str) -> str:
    """The same without echo. Secrets are never words of a command line, which `ps` shows."""
    return _given(getpass.getpass(question)) if sys.stdin.isatty() else line(question)


def new_password(email: str) -> str:
    """Typed twice by a person, read once from a pipe."""
    first = secret(f"New password for {email}: ")
    if sys.stdin.isatty() and secret("Once more: ") != first:
        raise Stop("The two passwords differ; nothing was changed.")
    return first


def _given(text: str) -> str:
    if not text:
        raise Stop("Nothing was entered.")
    return text
