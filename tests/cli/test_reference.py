"""What the documentation is made of."""

from belvedere.cli import completion, main, reference


def test_it_works() -> None:
    paths = [path for path, _ in reference.commands()]
    assert "belvedere job log" in paths
    assert {path.split()[1] for path in paths} == {noun.name for noun in main.COMMAND_GROUPS}
    assert len(paths) == len(set(paths))


def test_every_command_has_a_help_that_is_a_sentence() -> None:
    assert [path for path, told in reference.commands() if not told.endswith(".")] == []


def test_the_page_names_every_command_with_its_arguments() -> None:
    page = reference.write_reference()
    assert all(f"\n## {path}\n" in page for path, _ in reference.commands())
    assert "| `--note TEXT` | a note, for example how you know |" in page
    assert "| `normal\\|success\\|failure` | the result |" in page
    assert "belvedere run TASK [ARGUMENT ...] [--host HOST] [--follow]" in page


def test_completion_knows_every_verb_and_option() -> None:
    script = completion.bash()
    words = "list show files log cancel restart resolve release approve reject input"
    assert f'job) words="{words}"' in script
    assert "--follow" in script
