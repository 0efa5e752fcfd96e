"""A second host with one pasted command: the script, the single file, and the agent in it."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e import process_leaks
from e2e.programs import Agent, environment
from e2e.site import Site

# The interpreter itself: no installed package helps it.
BARE: str = sys._base_executable  # type: ignore[attr-defined]


@pytest.fixture
def install_folder(tmp_path: Path) -> Path:
    """A folder whose programs come first: there is exactly one Python."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(BARE)
    return tmp_path


@pytest.fixture
def second_agent(tmp_path: Path) -> Iterator[Agent]:
    agent = Agent(tmp_path / "second", f"host-{tmp_path.name}")
    yield agent
    agent.retire()
    process_leaks.check_gone(agent.state)


def path_of(place: Path) -> str:
    return f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"


def run_install_line(
    site: Site, place: Path, *words: str, **env: str
) -> "subprocess.CompletedProcess[str]":
    """`curl -fsSL …/-/install.sh | sh -s -- …`"""
    with site.world.api.open("/-/install.sh") as response:
        script = response.read().decode()
    return subprocess.run(
        ["sh", "-s", "--", *words],
        input=script,
        capture_output=True,
        text=True,
        timeout=50,
        env=environment(PATH=path_of(place), **env),
    )


def test_the_install_command_enrols_an_agent(
    site: Site, install_folder: Path, second_agent: Agent
) -> None:
    done = run_install_line(
        site,
        install_folder,
        *("--units", str(install_folder / "units"), "--state", str(second_agent.state)),
        *("--hostname", second_agent.hostname),
        BELVEDERE_ENROLMENT_TOKEN=site.world.enrolment(),
    )
    assert done.returncode == 0, done.stderr
    assert "is enrolled" in done.stdout
    unit = (install_folder / "units" / "belvedere-agent.service").read_text()
    python, isolated, program, *words = shlex.split(unit.partition("ExecStart=")[2].split("\n")[0])
    assert (os.path.realpath(python), isolated) == (os.path.realpath(BARE), "-I")
    # Without even the folder of installed packages.
    second_agent.command, second_agent.words = (BARE, "-I", "-S", program), tuple(words)
    second_agent.launch()
    site.world.wait_connected(second_agent)
    task = site.world.task("#!/bin/sh\necho from one file\n", second_agent)
    job = site.world.run(task)
    assert site.world.wait_ended(job)["state"] == "normal"
    assert site.world.log(job) == b"from one file\n"


def test_an_enrolled_agent_is_upgraded_without_a_token(
    site: Site, install_folder: Path, second_agent: Agent
) -> None:
    place_words = ("--units", str(install_folder / "units"), "--state", str(second_agent.state))
    words = (*place_words, "--hostname", second_agent.hostname)
    first = run_install_line(
        site, install_folder, *words, BELVEDERE_ENROLMENT_TOKEN=site.world.enrolment()
    )
    assert first.returncode == 0, first.stderr
    credential = (second_agent.state / "credential.json").read_bytes()
    again = run_install_line(site, install_folder, *words)
    assert again.returncode == 0, again.stderr
    assert (second_agent.state / "credential.json").read_bytes() == credential


def test_the_installer_without_a_token_explains_the_command(
    site: Site, install_folder: Path
) -> None:
    done = run_install_line(site, install_folder, "--state", str(install_folder / "state"))
    assert done.returncode == 1
    assert "BELVEDERE_ENROLMENT_TOKEN=bve_" in done.stderr and site.world.url in done.stderr


def test_a_token_that_sudo_removed_is_explained(site: Site, install_folder: Path) -> None:
    """`BELVEDERE_ENROLMENT_TOKEN=… sudo sh`: the variable does not reach the script."""
    done = run_install_line(
        site, install_folder, "--state", str(install_folder / "state"), SUDO_USER="ada"
    )
    assert done.returncode == 1
    assert "| sudo BELVEDERE_ENROLMENT_TOKEN=bve_... sh" in done.stderr
    assert "must follow the word sudo" in done.stderr


def test_an_invalid_token_leaves_no_data(site: Site, install_folder: Path) -> None:
    words = ("--units", str(install_folder / "units"), "--state", str(install_folder / "state"))
    done = run_install_line(
        site, install_folder, *words, BELVEDERE_ENROLMENT_TOKEN="bve_" + "x" * 43
    )
    assert done.returncode == 1
    assert "enrolment token" in done.stderr and "Traceback" not in done.stderr
    assert (
        not (install_folder / "units").exists()
        and not (install_folder / "state" / "credential.json").exists()
    )


def test_a_changed_download_is_not_run(site: Site, install_folder: Path) -> None:
    with site.world.api.open("/-/install.sh") as response:
        script = response.read().decode()
    digest = script.partition('!= "')[2].partition('"')[0]
    assert len(digest) == 64
    changed = script.replace(digest, "0" * 64)
    done = subprocess.run(
        [
            "sh",
            "-s",
            "--",
            "--units",
            str(install_folder / "units"),
            "--state",
            str(install_folder / "state"),
        ],
        input=changed,
        capture_output=True,
        text=True,
        timeout=50,
        env=environment(PATH=path_of(install_folder), BELVEDERE_ENROLMENT_TOKEN="bve_x"),
    )
    assert done.returncode != 0 and "the SHA-256 of the downloaded agent is wrong" in done.stderr
    assert not (install_folder / "state").exists()
