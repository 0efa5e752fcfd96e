"""Entry point of `belvedere`: finds the command, runs it, and reports errors in one line.

Only the module of the called command is imported, so that `belvedere agent` and
`belvedere --version` start quickly and stay small.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from belvedere import __version__


class CommandGroup(NamedTuple):
    """A first word on the command line: its name, its module and its help text."""

    name: str
    module: str
    help: str


COMMAND_GROUPS = (
    CommandGroup("up", "server.serve", "start a server with one local agent on this machine"),
    CommandGroup("server", "server.serve", "start a server on a database of your choice"),
    CommandGroup("agent", "server.agent", "run jobs and checks of a server on this host"),
    CommandGroup("login", "access.session", "sign in to a server and save the login"),
    CommandGroup("logout", "access.session", "end the session and delete the saved login"),
    CommandGroup(
        "whoami", "access.session", "show who you are signed in as, where, and your level"
    ),
    CommandGroup("run", "jobs.run", "run a task, and optionally wait for it"),
    CommandGroup("exec", "jobs.exec", "run a command on hosts"),
    CommandGroup("task", "automation.task", "manage tasks"),
    CommandGroup("workflow", "automation.workflow", "manage and run workflows"),
    CommandGroup("job", "jobs.job", "list jobs, read logs, cancel, approve, restart"),
    CommandGroup("host", "monitoring.host", "manage hosts"),
    CommandGroup(
        "definition", "automation.definition", "manage a task or monitor for every host with a tag"
    ),
    CommandGroup("schedule", "automation.schedule", "manage schedules of tasks"),
    CommandGroup(
        "secret", "automation.secret", "manage environment variables and secrets for scripts"
    ),
    CommandGroup("monitor", "monitoring.monitor", "manage monitors"),
    CommandGroup("webhook", "automation.webhook", "manage webhooks"),
    CommandGroup("indicator", "monitoring.indicator", "manage indicators on the dashboard"),
    CommandGroup("search", "monitoring.search", "search everything by name"),
    CommandGroup("view", "monitoring.saved_view", "list and delete saved views of the console"),
    CommandGroup("status-page", "monitoring.status_page", "manage public status pages"),
    CommandGroup("incident", "monitoring.incident", "post incidents on status pages"),
    CommandGroup("notify", "monitoring.notify", "manage notifications"),
    CommandGroup("enrolment", "access.enrolment", "manage enrolment tokens for new hosts"),
    CommandGroup("member", "access.member", "manage members of the organization"),
    CommandGroup("second-factor", "access.second_factor", "manage your second factor"),
    CommandGroup("provider", "access.provider", "manage sign-in providers (OpenID Connect)"),
    CommandGroup("token", "access.token", "manage integration tokens for programs"),
    CommandGroup("acl", "access.acl", "manage who may see and run something"),
    CommandGroup("import", "automation.recipe", "import a recipe of Belvedere or TheEye"),
    CommandGroup("key", "server.key", "manage the encryption keys, on the server's machine"),
    CommandGroup("organization", "access.organization", "manage organizations on this server"),
    CommandGroup("audit", "access.audit", "show the audit log"),
    CommandGroup("demo", "server.demo", "remove the demo objects of the first start"),
    CommandGroup("backup", "server.backup", "write a backup of the database to a file"),
    CommandGroup("restore", "server.backup", "restore a backup into an empty location"),
    CommandGroup("mark-restored", "server.restored", "mark the database as restored from a backup"),
    CommandGroup("migrate", "server.migrate", "move to PostgreSQL, or back to SQLite"),
    CommandGroup("doctor", "server.doctor", "check the installation and its data"),
    CommandGroup("upgrade", "server.upgrade", "check whether this version can be started"),
    CommandGroup("bench", "server.bench", "measure the performance of this installation"),
    CommandGroup("completion", "completion", "print a completion script for your shell"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words in (["--version"], ["-V"]):
        print(f"belvedere {__version__}")
        return 0
    if not words or words[0] in ("--help", "-h", "help"):
        print(overview())
        return 0 if words else 2
    group = next((candidate for candidate in COMMAND_GROUPS if candidate.name == words[0]), None)
    if argv is None and words[0] in ("up", "server", "agent"):
        _hide_secrets(words[0])
    from belvedere.cli.framework import dispatch

    if group is None:
        return dispatch.report_error(
            dispatch.unknown("command", words[0], [candidate.name for candidate in COMMAND_GROUPS]),
            2,
        )
    return dispatch.run_guarded(lambda: dispatch.perform(group.name, module_of(group), words[1:]))


def _hide_secrets(name: str) -> None:
    """In long-running programs, before anything else is loaded: they may re-execute themselves."""
    from belvedere.base import secret_environment

    if name == "agent":
        from belvedere.agent.setup.settings import TOKEN_VARIABLE

        secret_environment.hide([TOKEN_VARIABLE])
        return
    from belvedere.settings import SECRETS

    secret_environment.hide(SECRETS)


def module_of(group: CommandGroup) -> ModuleType:
    return import_module(f"belvedere.cli.{group.module}")


def overview() -> str:
    lines = [f"  {group.name:<13} {group.help}" for group in COMMAND_GROUPS]
    return "\n".join(
        (
            "usage: belvedere COMMAND [...]",
            "",
            "Runs scripts on hosts, monitors hosts and services, and shows the results.",
            "",
            *lines,
            "",
            "Run belvedere COMMAND --help for details, belvedere --version for the version.",
        )
    )


if __name__ == "__main__":
    sys.exit(main())
