"""Values as they are typed and sent."""

from pathlib import Path

import pytest

from belvedere.cli.framework.command import CommandError
from belvedere.cli.jobs import run

DEFINITIONS = [{"type": "fixed"}, {"type": "input"}, {"type": "file"}]


def test_a_file_argument_becomes_a_data_url(tmp_path: Path) -> None:
    path = tmp_path / "a b.txt"
    path.write_text("Hi")
    url = "data:text/plain;name=a%20b.txt;base64,SGk="
    assert run.argument_values(DEFINITIONS, ["@x", str(path)]) == ["@x", url]
    assert run.argument_values(DEFINITIONS, ["", "@x", str(path)]) == ["", "@x", url]


def test_a_data_url_stays_as_it_is() -> None:
    assert run.argument_values([{"type": "file"}], ["data:;base64,SGk="]) == ["data:;base64,SGk="]


def test_a_wrong_number_of_values_is_left_to_the_server() -> None:
    assert run.argument_values(DEFINITIONS, ["only one"]) == ["only one"]


def test_a_missing_file_is_reported() -> None:
    with pytest.raises(CommandError, match="Cannot read /nowhere"):
        run.argument_values([{"type": "file"}], ["/nowhere"])
