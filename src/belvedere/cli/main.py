"""The door: finds the command, runs it, and turns what went wrong into one line and a status.

Only the module of the command that was called is imported, so that `belvedere agent` and
`belvedere --version` start quickly and stay small.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from belvedere import __version__


class Noun(NamedTuple):
    """A first word: the module that knows it, and what it is for."""

    name: str
    module: str
    help: str


NOUNS = (
    Noun("up", "server.serve", "start a server with one local agent on this machine"),
    Noun("server", "server.serve", "start a server on a database of your choice"),
    Noun("agent", "server.agent", "let this host take work from a server"),
    Noun("login", "access.session", "sign in to a server and remember it"),
    Noun("logout", "access.session", "end the session and forget it"),
    Noun("whoami", "access.session", "say who you are, where, and what you may do"),
    Noun("run", "jobs.run", "run a task; its exit status can follow the job"),
    Noun("exec", "jobs.exec", "run a command on hosts or tags"),
    Noun("task", "automation.task", "what can be run"),
    Noun("workflow", "automation.workflow", "tasks in order"),
    Noun("job", "jobs.job", "what ran, runs or waits"),
    Noun("host", "monitoring.host", "where work runs"),
    Noun("definition", "automation.definition", "one task or monitor for every host with a tag"),
    Noun("schedule", "automation.schedule", "when tasks run by themselves"),
    Noun("secret", "automation.secret", "values that scripts get by their environment"),
    Noun("monitor", "monitoring.monitor", "what is watched"),
    Noun("webhook", "automation.webhook", "doors from outside"),
    Noun("indicator", "monitoring.indicator", "what the dashboard shows on top"),
    Noun("search", "monitoring.search", "find anything by its name"),
    Noun("view", "monitoring.saved_view", "lists of the console, saved with their filters"),
    Noun("status-page", "monitoring.status_page", "what everybody may see"),
    Noun("notify", "monitoring.notify", "who is told, and what became of it"),
    Noun("enrolment", "access.enrolment", "tokens that let new hosts in"),
    Noun("member", "access.member", "the people of the organization"),
    Noun("second-factor", "access.second_factor", "codes of an app beside your password"),
    Noun("provider", "access.provider", "where members sign in instead of with a password"),
    Noun("token", "access.token", "integration tokens for programs"),
    Noun("acl", "access.acl", "who may see and run something"),
    Noun("import", "automation.recipe", "take over what was exported as a recipe"),
    Noun("key", "server.key", "the installation's key, on the server's machine"),
    Noun("organization", "access.organization", "organizations on this server"),
    Noun("audit", "access.audit", "who changed what"),
    Noun("demo", "server.demo", "the samples of the first start"),
    Noun("doctor", "server.doctor", "check the installation and its data"),
    Noun("bench", "server.bench", "measure this installation"),
    Noun("completion", "completion", "print a completion script for your shell"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """The exit status of one command line."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words in (["--version"], ["-V"]):
        print(f"belvedere {__version__}")
        return 0
    if not words or words[0] in ("--help", "-h", "help"):
        print(overview())
        return 0 if words else 2
    noun = next((each for each in NOUNS if each.name == words[0]), None)
    if argv is None and words[0] in ("up", "server", "agent"):
        _hide_secrets(words[0])
    from belvedere.cli.framework import dispatch as call

    if noun is None:
        return call.complain(call.unknown("command", words[0], [each.name for each in NOUNS]), 2)
    return call.guarded(lambda: call.perform(noun.name, module_of(noun), words[1:]))


def _hide_secrets(name: str) -> None:
    """Of the programs that go on running, before anything else is loaded: they may start again."""
    from belvedere.base import secret_environment as private_environment

    if name == "agent":
        from belvedere.agent.setup.settings import TOKEN_VARIABLE

        private_environment.hide([TOKEN_VARIABLE])
        return
    from belvedere.settings import SECRETS

    private_environment.hide(SECRETS)


def module_of(noun: Noun) -> ModuleType:
    return import_module(f"belvedere.cli.{noun.module}")


def overview() -> str:
    lines = [f"  {noun.name:<13} {noun.help}" for noun in NOUNS]
    return "\n".join(
        (
            "usage: belvedere COMMAND [...]",
            "",
            "Runs scripts on hosts and shows what came of them.",
            "",
            *lines,
            "",
            "belvedere COMMAND --help says more; belvedere --version tells the version.",
        )
    )


if __name__ == "__main__":
    sys.exit(main())
