"""The generated reference page, and completion."""

import subprocess

from belvedere.cli import completion, main
from cli.conftest import Belvedere
from fake_server import FakeServer
from pages import commands


def test_all_commands_are_listed_once() -> None:
    paths = [page.path for page in completion.pages()]
    assert "belvedere job log" in paths
    assert {path.split()[1] for path in paths} == {noun.name for noun in main.COMMAND_GROUPS}
    assert len(paths) == len(set(paths))


def test_every_command_has_a_help_that_is_a_sentence() -> None:
    assert [page.path for page in completion.pages() if not page.help.endswith(".")] == []


def test_the_page_names_every_command_with_its_arguments() -> None:
    text = commands.page()
    assert all(f"\n## {page.path}\n" in text for page in completion.pages())
    assert "| `--note TEXT` | a note, for example how you know |" in text
    assert "| `normal\\|success\\|failure` | the result |" in text
    assert "belvedere run TASK [ARGUMENT ...] [--host HOST] [--assignee MEMBER] [--follow]" in text


def test_completion_knows_every_command_and_option() -> None:
    script = completion.bash()
    words = (
        "list show files log cancel restart resolve hold assign held release approve reject input"
    )
    assert f'job) words="{words}"' in script
    assert "--follow" in script


def complete(*words: str) -> list[str]:
    """What bash offers for the last word; `belvedere` itself is a stand-in that lists names."""
    program = (
        "belvedere() { test \"$*\" = 'completion --names task' &&"
        " printf 'Open orders\\nbackup\\n'; }\n"
        f"{completion.bash()}\n"
        'COMP_WORDS=(belvedere "$@"); COMP_CWORD=$#; _belvedere; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    ran = subprocess.run(
        ["bash", "-c", program, "bash", *words], capture_output=True, text=True, check=True
    )
    return ran.stdout.split("\n")[:-1]


def test_completion_offers_names() -> None:
    assert complete("run", "ba") == ["backup"]
    assert complete("run", "Open\\ o") == ["Open\\ orders"]
    assert complete("task", "show", "O") == ["Open\\ orders"]
    assert complete("secret", "set", "X", "--task", "b") == ["backup"]


def test_completion_offers_commands_and_options() -> None:
    assert complete("task", "sho") == ["show"]
    assert complete("task", "show") == ["show"]
    assert complete("run", "--fol") == ["--follow"]


def test_fish_completes_commands_options_and_names() -> None:
    lines = completion.fish().splitlines()
    command = "complete -c belvedere -n '__belvedere_is monitor show'"
    assert f"{command} -a '(__belvedere_names monitor)'" in lines
    assert any(line.startswith(f"{command} -l json") for line in lines)
    host = "complete -c belvedere -n '__belvedere_is run' -l host -x -a '(__belvedere_names host)'"
    assert any(line.startswith(host) for line in lines)
    assert any("__belvedere_is task; and __belvedere_word_count 2' -a show" in x for x in lines)
    # `up --host` is an address, and a quotation mark in a help text does not end it.
    assert not any("__belvedere_is up' -l host -x" in line for line in lines)
    for line in lines[lines.index("complete -c belvedere -f") :]:
        assert line.replace("\\'", "").count("'") % 2 == 0, line


def test_names_of_a_kind_are_printed_for_completion(
    belvedere: Belvedere, server: FakeServer
) -> None:
    server.on("GET", "/task", [{"name": "backup"}, {"name": "Open orders"}, {"name": "backup"}])
    assert belvedere("completion", "--names", "task").out == "Open orders\nbackup\n"
    assert belvedere("completion").err.startswith("belvedere: Name the shell")
