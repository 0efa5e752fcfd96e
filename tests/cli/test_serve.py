"""`up` and `server`: options become settings, and no secret is an option."""

import pytest

from belvedere import settings
from belvedere.base.errors import Refused
from belvedere.cli.framework import command
from belvedere.cli.server import serve
from belvedere.server import main
from cli.conftest import Belvedere

SECRETS = ("secret_key", "admin_password", "access_token")


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, settings.Settings]]:
    """What would have been started."""
    items: list[tuple[str, settings.Settings]] = []

    def note(name: str, status: int) -> None:
        def record_start(actual_settings: settings.Settings) -> int:
            items.append((name, actual_settings))
            return status

        monkeypatch.setattr(main, name, record_start)

    note("up", 0)
    note("serve", 3)
    return items


def test_options_of_up_become_settings(
    anonymous: Belvedere, starts: list[tuple[str, settings.Settings]]
) -> None:
    words = "up --data /d --host 0.0.0.0 --port 9 --no-agent --no-demo --url https://b.example"
    assert anonymous(*words.split()).status == 0
    name, actual_settings = starts[0]
    assert name == "up"
    assert (actual_settings.data, actual_settings.host, actual_settings.port) == (
        "/d",
        "0.0.0.0",
        9,
    )
    assert (actual_settings.agent, actual_settings.demo, actual_settings.base_url) == (
        False,
        False,
        "https://b.example",
    )


def test_the_exit_status_is_the_servers(
    anonymous: Belvedere, starts: list[tuple[str, settings.Settings]]
) -> None:
    assert anonymous("server", "--database", "postgresql://db/x").status == 3
    assert starts[0][1].database == "postgresql://db/x"


def test_the_environment_applies_without_an_option(
    anonymous: Belvedere,
    starts: list[tuple[str, settings.Settings]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BELVEDERE_PORT", "7")
    monkeypatch.setenv("BELVEDERE_DEMO", "0")
    anonymous("up")
    anonymous("up", "--port", "8")
    assert [(actual_settings.port, actual_settings.demo) for _, actual_settings in starts] == [
        (7, False),
        (8, False),
    ]


@pytest.mark.parametrize("row", serve.COMMANDS, ids=lambda row: row.name)
def test_no_secret_is_an_option(row: command.Command) -> None:
    options = {action.dest for action in command.command_parser(row.name, row)._actions}
    assert not options.intersection(SECRETS)


def test_an_invalid_port_is_refused(anonymous: Belvedere) -> None:
    ran = anonymous("up", "--port", "99999")
    assert (ran.status, ran.err) == (1, "belvedere: The port must be 0 to 65535, not 99999.\n")


def test_a_wrong_address_and_a_used_port_name_the_option_to_change() -> None:
    with pytest.raises(Refused, match=r"Cannot listen on 192\.0\.2\.1:.*another with --host\."):
        main._listen(settings.Settings(host="192.0.2.1"))
    with main._listen(settings.Settings(host="127.0.0.1", port=0)) as used:
        port = used.getsockname()[1]
        with pytest.raises(Refused, match=r"another with --port\."):
            main._listen(settings.Settings(host="127.0.0.1", port=port))
