"""`belvedere second-factor`: the password by standard input, the codes alone on stdout."""

from cli.conftest import Belvedere
from fake_server import FakeServer

PATH = "/api/auth/second-factor"
CODES = {"recovery_codes": ["aaaaa-bbbbb", "ccccc-ddddd"]}


def test_a_second_factor_is_enabled(belvedere: Belvedere, server: FakeServer) -> None:
    server.on("POST", PATH, {"secret": "ABCDEF", "uri": "otpauth://x", "qr": "<svg/>"})
    server.on("PUT", PATH, CODES)
    ran = belvedere("second-factor", "enable", stdin="correct horse\n123456\n")
    assert (ran.status, ran.out) == (0, "aaaaa-bbbbb\nccccc-ddddd\n")
    assert "ABCDEF" in ran.err
    assert server.bodies("POST", PATH) == [{"password": "correct horse"}]
    assert server.bodies("PUT", PATH) == [{"code": "123456"}]


def test_new_recovery_codes_are_printed_alone(belvedere: Belvedere, server: FakeServer) -> None:
    server.on("POST", f"{PATH}/recovery-codes", CODES)
    ran = belvedere("second-factor", "recovery-codes", stdin="correct horse\n")
    assert (ran.status, ran.out) == (0, "aaaaa-bbbbb\nccccc-ddddd\n")


def test_the_second_factor_is_disabled(belvedere: Belvedere, server: FakeServer) -> None:
    server.on("POST", f"{PATH}/disable", {"message": "It is off."})
    ran = belvedere("second-factor", "disable", stdin="correct horse\n")
    assert (ran.status, ran.out) == (0, "It is off.\n")
    assert server.bodies("POST", f"{PATH}/disable") == [{"password": "correct horse"}]


def test_neither_password_nor_code_is_a_word_of_the_command_line(belvedere: Belvedere) -> None:
    assert belvedere("second-factor", "enable", "--password", "x").status == 2
    assert belvedere("second-factor", "enable", "--code", "x").status == 2
