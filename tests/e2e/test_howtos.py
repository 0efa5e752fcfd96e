"""Every how-to page is executed as a reader would type it, in an empty HOME.

`make howtos` runs the same and writes the real output into the pages.
"""

import os
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

import pgserver
from e2e import howto_machine, howto_output, process_leaks
from e2e.howto_page import Page, Step
from e2e.howto_shell import LOCAL, PUBLIC, Shell
from e2e.programs import EMAIL, PASSWORD, environment
from e2e.world import World

ROOT = Path(__file__).parents[2]
HOWTOS = sorted((ROOT / "docs" / "howto").glob("*.md"))
PAGES = {path.stem: path for path in [*HOWTOS, ROOT / "docs" / "quickstart.md"]}
NEED_POSTGRESQL = ("grow", "several-servers", "use-patroni", "use-postgresql")
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture
def shell(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Shell]:
    page = Page.read(PAGES[name])
    if page.has_own_machine:
        yield from _terminal_of_root(tmp_path, request)
    elif page.starts_server:
        yield from _new_terminal(tmp_path, request)
    else:
        yield from _terminal_of_a_member(tmp_path)


def _terminal_of_a_member(folder: Path) -> Iterator[Shell]:
    """A person is signed in to a server with the hosts web-1 and web-2, which the pages use as
    examples."""
    with World(folder / "world", verb="up") as world:
        world.start("--no-demo", "--no-agent")
        world.agent("web-1")
        world.agent("web-2")
        shell = Shell(folder / "reader", world.server.url, environment(PATH=PATH))
        # The data is where the server has it by default.
        shell.run(f"mkdir -p ~/.local/share; ln -s {world.server.data} ~/.local/share/belvedere")
        shell.run(f"belvedere login --server {world.server.url} --email {EMAIL}", f"{PASSWORD}\n")
        assert shell.code == 0
        yield shell
        shell.close()


def _terminal_of_root(folder: Path, request: pytest.FixtureRequest) -> Iterator[Shell]:
    shell = howto_machine.start(folder / "machine")
    with _postgresql(request, shell):
        yield shell
        shell.close()


def _new_terminal(folder: Path, request: pytest.FixtureRequest) -> Iterator[Shell]:
    """The page starts a server itself, on a port that is free here."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    env = environment(PATH=PATH, BELVEDERE_PORT=str(port))
    shell = Shell(folder / "reader", f"http://127.0.0.1:{port}", env)
    shell.addresses["vm"] = socket.gethostname()
    with _postgresql(request, shell):
        yield shell
        shell.close()
    process_leaks.end(folder)


@contextmanager
def _postgresql(request: pytest.FixtureRequest, shell: Shell) -> Iterator[None]:
    """The pages that use it get a database server, without the database of the page."""
    if request.node.callspec.params["name"] not in NEED_POSTGRESQL:
        yield
        return
    options = conninfo_to_dict(request.getfixturevalue("postgres_template"))
    host, user = str(options["host"]), str(options["user"])
    # `psql` works as it does for an administrator of the database.
    programs = pgserver.package_folder() / pgserver.INSTALL / "bin"
    shell.run(f"export PGHOST={host} PGUSER={user} PGDATABASE=postgres PATH=$PATH:{programs}")
    shell.addresses |= dict.fromkeys(("db.example.org", "db2"), quote(host, safe=""))
    yield
    with psycopg.connect(host=host, user=user, dbname="postgres", autocommit=True) as connection:
        connection.execute("drop database if exists belvedere with (force)")
        connection.execute("drop role if exists belvedere")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_marks_what_is_executed(name: str) -> None:
    """A block without a language would silently not be executed."""
    assert Page.read(PAGES[name]).unmarked == []


# One page installs the whole product.
@pytest.mark.limit(300)
@pytest.mark.parametrize("name", [name for name in PAGES if Page.read(PAGES[name]).steps])
def test_a_page_works_when_it_is_typed_literally(name: str, shell: Shell) -> None:
    page = Page.read(PAGES[name])
    outputs = _execute(page, shell)
    if os.environ.get("HOWTO_WRITE"):
        page.replace_outputs(outputs)
    elif outputs:
        step, lines = outputs[0]
        texts = [f"$ {step.text}", *lines, "--- the page has", *(step.output or [])]
        pytest.fail("\n".join([*texts, "--- run: make howtos"]))


def _execute(page: Page, shell: Shell) -> list[tuple[Step, list[str]]]:
    """The outputs that differ from the page."""
    values: dict[str, str] = {}
    differences = []
    for number, step in enumerate(page.steps):
        if step.file:
            shell.write(step.file, _with_real_values(step.text, shell, values))
            continue
        output = _run(step, shell, values)
        following = page.steps[number + 1].text if number + 1 < len(page.steps) else ""
        assert shell.code == 0 or following == "echo $?", f"$ {step.text}\n{output}"
        if step.output is not None:
            documented = step.output
            if PUBLIC in shell.addresses:
                documented = [line.replace(PUBLIC, LOCAL) for line in documented]
            pairs = howto_output.compare(documented, output, is_ordered=step.is_ordered)
            if pairs is None:
                pairs = howto_output.pair_values(documented, output)
                for value, real in (values | pairs).items():
                    output = output.replace(real, value)
                differences.append((step, output.split("\n") if output else []))
            values.update(pairs)
    return differences


def _run(step: Step, shell: Shell, values: dict[str, str]) -> str:
    """With the real address and the real ids; the output has the address of the page."""
    text, typed = (_with_real_values(text, shell, values) for text in (step.text, step.typed))
    output = shell.run_in_background(text) if step.is_background else shell.run(text, typed)
    for address, real in shell.addresses.items():
        output = re.sub(rf"\b{re.escape(real)}\b", address, output)
    return output


def _with_real_values(text: str, shell: Shell, values: dict[str, str]) -> str:
    for value, real in values.items():
        text = text.replace(value, real)
    for address, real in shell.addresses.items():
        text = re.sub(rf"\b{re.escape(address)}\b", real, text)
    return text


@pytest.mark.parametrize(
    ("documented", "real", "is_equal"),
    [
        ("job 01a1dd3eee9f39209faf78b1 ended", "job 01a1e867e68224abec19f31c ended", True),
        ("job 01a1dd3eee9f39209faf78b1 ended", "job 01a1e867e68224abec19f31c failed", False),
        ("took  6 ms", "took 1 min 12 s", True),
        ("Wed 2026-11-18 02:30 +01:00", "Sat 2027-04-03 02:30 +02:00  skipped", True),
        ("state  ✓ normal", "state  ✗ failure", False),
        ("seen …", "seen by nobody", True),
        ("", "an error", False),
        ("27 rows", "create indexes: 4 of 98 after 5 s\n27 rows", True),
    ],
)
def test_only_what_differs_in_each_run_may_differ(
    documented: str, real: str, is_equal: bool
) -> None:
    assert (howto_output.compare([documented], real) is not None) == is_equal
