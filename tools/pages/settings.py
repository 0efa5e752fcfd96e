"""docs/reference/settings.md: every setting, from the table that the server reads."""

from typing import Any

from belvedere.agent.setup.settings import TOKEN_VARIABLE
from belvedere.agent.updates.programs import BASE_VARIABLE
from belvedere.base.failpoints import VARIABLE as FAILPOINT
from belvedere.cli.server import serve
from belvedere.settings import DEPRECATED, TABLE
from pages.table import code, heading, table

ABOUT = """
Command-line options override the environment, which overrides the defaults. Secrets have
no option, because every user of the machine can read a command line.
"""
ELSEWHERE = (
    (TOKEN_VARIABLE, "agent: the enrolment token, for the first start"),
    (BASE_VARIABLE, "set by the agent itself: the program that started its update"),
    ("BELVEDERE_PRIVATE_FD", "set by the programs themselves: where they read their secrets from"),
    ("BELVEDERE_SERVER", "command line: the server's address"),
    ("BELVEDERE_TOKEN", "command line: the credential"),
    ("BELVEDERE_CUSTOMER", "command line: the organization"),
    ("BELVEDERE_CA_FILE", "command line: trust the certificate authorities in this PEM file"),
    ("BELVEDERE_TEST_POSTGRES", "tests: a PostgreSQL server instead of one of their own"),
    (FAILPOINT, "tests: end the process with SIGKILL at the named point"),
)


def page() -> str:
    flags = {flag for verb in serve.COMMANDS for each in verb.options for flag in each.flags}
    server = table(
        ("Environment", "Option", "Default", "Meaning"),
        (
            (code(env), _option(name, default, flags), _default(default), meaning)
            for name, env, default, meaning in TABLE
        ),
    )
    others = table(
        ("Environment", "Meaning"), ((code(name), meaning) for name, meaning in ELSEWHERE)
    )
    agent = "For the agent's options, see [the command line](cli.md#belvedere-agent).\n"
    script = "For the environment of a script, see [scripts](scripts.md).\n"
    removed = table(
        ("Environment", "What to do"), ((code(name), DEPRECATED[name]) for name in DEPRECATED)
    )
    parts = (heading("Settings", ABOUT), "## Server\n", server, "## Elsewhere\n", others)
    return "\n".join((*parts, agent, script, "## Deprecated\n", removed))


def _option(name: str, default: Any, flags: set[str]) -> str:
    word = name.replace("_", "-")
    flag = f"--no-{word}" if isinstance(default, bool) else f"--{word}"
    return code(flag) if flag in flags else ""


def _default(default: Any) -> str:
    if isinstance(default, bool):
        return "on" if default else "off"
    return "" if default == "" else code(str(default))
