"""A second factor with real programs: the server, and the command line that signs in."""

from pathlib import Path

from belvedere.access.crypto import totp
from belvedere.base.clock import wall
from e2e.programs import EMAIL, PASSWORD, run
from e2e.world import World


def test_a_second_factor_is_set_up_requested_and_removed(world: World, tmp_path: Path) -> None:
    """Set up manually, required at the next login, and removed by the operator."""
    world.start()
    home = {"XDG_CONFIG_HOME": str(tmp_path / "home")}
    login = ("login", "--server", world.url, "--email", EMAIL)
    assert run(*login, stdin=f"{PASSWORD}\n", **home).returncode == 0
    with world.person() as person:
        begun = person.post("/api/auth/second-factor", {"password": PASSWORD})
        codes = person.put("/api/auth/second-factor", {"code": _code(begun["secret"])})
    assert run("whoami", **home).returncode == 1
    code = codes["recovery_codes"][0]
    assert run(*login, stdin=f"{PASSWORD}\nwrong\n", **home).returncode == 1
    assert run(*login, stdin=f"{PASSWORD}\n{code}\n", **home).returncode == 0
    process = run("second-factor", "show", **home)
    assert "9" in process.stdout, process.stderr
    reset = ("member", "reset-second-factor", EMAIL, "--data", str(world.server.data))
    assert run(*reset, **home).returncode == 0
    assert run(*login, stdin=f"{PASSWORD}\n", **home).returncode == 0


def _code(secret: str) -> str:
    return totp.code_at(secret, wall() // totp.STEP)
