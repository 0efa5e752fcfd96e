"""docs/reference/settings.md: every setting, from the tables of server and agent."""

from typing import Any

from belvedere.server.settings import TABLE
from pages.table import code, heading, table

ABOUT = """
An option of the command line wins over the environment, the environment over the default. What is
secret has no option, because everybody on the machine can read a command line.
"""


def page() -> str:
    server = table(
        ("Environment", "Option", "Default", "Meaning"),
        (
            (code(env), _option(name, default), _default(default), told)
            for name, env, default, told in TABLE
        ),
    )
    return "\n".join((heading("Settings", ABOUT), "## Server\n", server))


def _option(name: str, default: Any) -> str:
    flag = name.replace("_", "-")
    return code(f"--no-{flag}" if isinstance(default, bool) else f"--{flag}")


def _default(default: Any) -> str:
    if isinstance(default, bool):
        return "on" if default else "off"
    return "" if default == "" else code(str(default))
