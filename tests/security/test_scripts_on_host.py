"""A script's user against a root agent: the user must gain nothing from what the agent does.

Where the tests run as root, the attacks are real: another user acts between every two file
operations of a real keeper (see attacker.py). Everywhere, the rules that make this safe are tested
one by one, and no module of the keeper may go around them.
"""

import ast
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.keeper_process import KeeperHarness
from belvedere.agent.workdir import accounts, artifacts, directories, removal
from belvedere.agent.workdir.workdirs import Workdir, Workdirs
from security.attacker import ATTACKS, UID, USER

TESTS = Path(__file__).parent.parent
AGENT = Path(directories.__file__).parents[1]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs scripts as other users")
SECRET = "only root may read this line"


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[KeeperHarness]:
    keeper_harness = KeeperHarness(tmp_path / "state")
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o001 == 0:
            folder.chmod(folder.stat().st_mode | 0o011)
    try:
        keeper_harness.connect()
        yield keeper_harness
    finally:
        keeper_harness.end()


class Victim:
    """A file and a directory of root that no one else may read or change."""

    def __init__(self, folder: Path) -> None:
        self.directory = folder / "closed"
        self.directory.mkdir(mode=0o755)
        self.file = folder / "victim"
        self.file.write_text(f"{SECRET}\n")
        self.file.chmod(0o600)
        (self.directory / "inside").write_text("stays")
        self._before = self._state()

    def _state(self) -> list[tuple[str, int, int, str]]:
        paths = [self.file, self.directory, *sorted(self.directory.iterdir())]
        return [(path.name, path.stat().st_uid, path.stat().st_mode, _text(path)) for path in paths]

    def assert_untouched(self) -> None:
        assert self._state() == self._before


def _text(path: Path) -> str:
    return path.read_text() if path.is_file() else ""


@pytest.fixture
def victim(tmp_path: Path) -> Victim:
    return Victim(tmp_path)


def restart_with_attacker(keeper: KeeperHarness, attack: str, victim: Victim) -> None:
    """The same keeper again, with a user who acts between its steps."""
    keeper.kill()
    values = (attack, keeper.folder.work, str(victim.file), str(victim.directory))
    lines = (
        f"sys.path.insert(0, {str(TESTS)!r})",
        "from security.attacker import arm",
        f"arm(*{values!r})",
    )
    keeper.start("\n".join(lines))
    keeper.connect()


BUSY = """#!/bin/sh
mkdir -p sub/deep; echo x > sub/inside; echo x > sub/deep/inside
echo found > "$BELVEDERE_FILES/result"
exec cat "$1"
"""


@needs_root
@pytest.mark.parametrize("attack", ATTACKS)
def test_no_exchange_of_a_path_reaches_a_file_of_root(
    keeper: KeeperHarness, victim: Victim, attack: str
) -> None:
    restart_with_attacker(keeper, attack, victim)
    blob = keeper.script("given", "blob")
    items = [{"index": 0, "filename": "given", "path": str(blob)}]
    reports = [keeper.run(BUSY, "", os_user=USER, blobs=items, masks=["found"]) for _ in range(2)]
    # Acknowledged files are removed, too.
    keeper.run("#!/bin/sh\n")
    victim.assert_untouched()
    assert SECRET not in str(reports)


@needs_root
def test_an_undisturbed_script_of_another_user_works(keeper: KeeperHarness) -> None:
    blob = keeper.script("given", "blob")
    items = [{"index": 0, "filename": "given", "path": str(blob)}]
    report = keeper.run(BUSY, "", os_user=USER, blobs=items)
    assert report["log"] == "given" and report["files"] == [["result", 6]]


@needs_root
def test_a_program_that_its_user_cannot_read_is_not_quoted(
    keeper: KeeperHarness, victim: Victim
) -> None:
    report = keeper.run("#!/bin/sh\n", os_user=USER, runas=[str(victim.file)])
    assert report["reason"] == "not_executable" and SECRET not in report["message"]


@needs_root
def test_a_program_that_is_a_pipe_does_not_block_the_keeper(
    keeper: KeeperHarness, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    report = keeper.run("#!/bin/sh\n", os_user=USER, runas=[str(tmp_path / "pipe")])
    assert report["reason"] == "not_executable"


@needs_root
def test_a_hard_link_to_a_file_of_root_is_not_sent(keeper: KeeperHarness, victim: Victim) -> None:
    """Where the kernel lets users link files of others, and the other name was replaced since."""
    fence = keeper.order(
        '#!/bin/sh\ncd "$BELVEDERE_FILES"; mkfifo go; echo ready; read x < go\n', os_user=USER
    )
    keeper.wait(lambda m: m["say"] == "output" and m["fence"] == fence)
    (files,) = Path(keeper.folder.work).glob("*/files")
    os.link(victim.file, files / "leak")
    victim.file.unlink()
    (files / "go").write_text("\n")
    report = keeper.report(fence)
    assert "files" not in report and ["leak", "kind"] in report["files_skipped"]


@needs_root
def test_a_process_that_stays_cannot_add_to_the_files(
    keeper: KeeperHarness, tmp_path: Path
) -> None:
    """One that may stay is still in the directory when it was searched."""
    os.mkfifo(tmp_path / "go", 0o666)
    os.mkfifo(tmp_path / "done", 0o666)
    for name in ("go", "done"):
        (tmp_path / name).chmod(0o666)
    source = f"""#!/bin/sh
cd "$BELVEDERE_FILES"; echo x > result
(read x < {tmp_path}/go; ln -sf /etc/passwd result; echo y > other; echo > {tmp_path}/done) &
"""
    fence = keeper.order(source, os_user=USER, daemonize=True)
    assert keeper.report(fence)["files"] == [["result", 2]]
    (tmp_path / "go").write_text("\n")
    (tmp_path / "done").read_text()
    folder = Path(keeper.folder.files) / str(fence)
    assert [path.name for path in folder.iterdir()] == ["result"]
    assert not (folder / "result").is_symlink()


@needs_root
def test_the_agents_own_files_are_closed_to_a_scripts_user(keeper: KeeperHarness) -> None:
    names = "journal keeper.log keeper.sock keeper.lock agent.lock credential.json samples"
    source = f"""#!/bin/sh
cd {keeper.folder.root} || exit 1
for name in {names} cache spool files work; do
  if [ -r $name ] || [ -w $name ]; then echo "open: $name"; fi
done
for file in environ mem maps; do
  head -c 1 /proc/$PPID/$file > /dev/null 2>&1 && echo "readable: $file"
done
kill -0 $PPID 2> /dev/null && echo "a signal reaches the keeper"
exit 0
"""
    (Path(keeper.folder.root) / "credential.json").touch(mode=0o600)
    report = keeper.run(source, os_user=USER)
    assert (report["ending"], report["log"]) == ("exit", "")


@needs_root
def test_no_other_user_can_enter_the_folder_of_a_script(keeper: KeeperHarness) -> None:
    fence = keeper.order("#!/bin/sh\nmkfifo go; echo ready; read x < go\n", os_user=USER)
    keeper.wait(lambda m: m["say"] == "output" and m["fence"] == fence)
    (private,) = Path(keeper.folder.work).iterdir()
    around = private.stat()
    assert (around.st_uid, stat.S_IMODE(around.st_mode)) == (0, 0o711)
    for folder in private.iterdir():
        assert (folder.stat().st_uid, stat.S_IMODE(folder.stat().st_mode)) == (UID, 0o700)
    (private / "here/go").write_text("\n")
    keeper.report(fence)


# The rules one by one, also if the tests do not run as root.


@contextmanager
def open_folder(folder: Path) -> Iterator[int]:
    fd = directories.open_directory(str(folder))
    try:
        yield fd
    finally:
        os.close(fd)


def _link(folder: Path) -> None:
    (folder / "x").symlink_to("/etc/passwd")


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "x")


def _second_name(folder: Path) -> None:
    (folder / "y").write_text("y")
    os.link(folder / "y", folder / "x")


def _directory(folder: Path) -> None:
    (folder / "x").mkdir()


def _nothing(folder: Path) -> None:
    pass


@pytest.mark.parametrize("make", [_link, _pipe, _second_name, _directory, _nothing])
def test_only_a_plain_file_is_opened(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path)
    with open_folder(tmp_path) as directory, pytest.raises(OSError):
        directories.open_regular("x", directory)


def test_a_file_of_another_owner_or_directory_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    with open_folder(tmp_path) as directory:
        for name, owner in (("x", os.geteuid() + 1), ("../" + tmp_path.name + "/x", -1)):
            with pytest.raises(OSError):
                directories.open_regular(name, directory, owner)
        os.close(directories.open_regular("x", directory, os.geteuid()))


@pytest.mark.parametrize("make", [_link, _pipe, _second_name, _directory])
def test_a_new_file_never_replaces_an_existing_one(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(tmp_path)
    with open_folder(tmp_path) as directory, pytest.raises(FileExistsError):
        directories.create_file("x", 0o600, directory)


def test_a_link_is_not_opened_as_a_directory(tmp_path: Path) -> None:
    (tmp_path / "x").symlink_to("/etc")
    with pytest.raises(OSError):
        directories.open_directory(str(tmp_path / "x"))


def test_a_removal_follows_no_link(tmp_path: Path) -> None:
    victim = Victim(tmp_path)
    tree = tmp_path / "tree"
    (tree / "sub").mkdir(parents=True)
    (tree / "sub/file").symlink_to(victim.file)
    (tree / "sub/folder").symlink_to(victim.directory)
    (tree / "dangling").symlink_to("/nonexistent")
    removal.remove(str(tree))
    tree.symlink_to(victim.directory)
    removal.remove(str(tree))
    assert not tree.is_symlink()
    victim.assert_untouched()


def test_a_deep_and_wide_tree_is_removed_with_few_descriptors(tmp_path: Path) -> None:
    """In a process that may open 100 files: the tree is some 500 directories deep."""
    tree = tmp_path / "tree"
    code = (
        "import os, sys\nos.mkdir(sys.argv[1]); os.chdir(sys.argv[1])\n"
        "for n in range(1_500): open(f'file{n}', 'w').close()\n"
        "for _ in range(500): os.mkdir('d'); os.chdir('d'); open('f', 'w').close()\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tree)], check=True)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    code = (
        "import resource, sys; from belvedere.agent.workdir import removal\n"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, (100, {hard}))\n"
        "sys.exit(removal.main())"
    )
    subprocess.run([sys.executable, "-c", code, str(tree)], check=True)
    assert not tree.exists()


def test_a_removal_stops_at_its_budget(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    for n in range(10):
        (tmp_path / f"tree/{n}").touch()
    with pytest.raises(removal.TreeTooLarge):
        removal.remove(str(tmp_path / "tree"), 9)
    removal.remove(str(tmp_path / "tree"), 9)
    assert not (tmp_path / "tree").exists()


def test_a_link_in_the_place_of_the_files_is_dropped(tmp_path: Path) -> None:
    victim = Victim(tmp_path)
    (tmp_path / "here").mkdir()
    (tmp_path / "files").mkdir()
    place = Workdir(str(tmp_path / "here"), str(tmp_path / "files"))
    (tmp_path / "files").rmdir()
    (tmp_path / "files").symlink_to(victim.directory)
    record = artifacts.collect_artifacts(place, str(tmp_path / "target"))
    assert record == {"files_skipped": [["", "link"]]}
    victim.assert_untouched()


def test_a_private_place_is_closed_until_it_is_handed_over(tmp_path: Path) -> None:
    place = Workdirs(str(tmp_path), rebooted=False).take_private()
    modes = [stat.S_IMODE(os.stat(path).st_mode) for path in (place.private, place.path)]
    assert modes == [0o700, 0o700]
    place.hand_over(os.geteuid(), os.getegid())
    assert stat.S_IMODE(os.stat(place.private).st_mode) == 0o711
    assert accounts.may_switch() == (os.geteuid() == 0)


# By path they act on whatever is there by then; `directories` and `removal` have functions to use
# instead.
BY_PATH = {"chown", "lchown", "chmod", "rmtree", "removedirs", "copy", "copyfile", "move"}
# These use only directories that a script's user can neither write to nor enter.
OWN_PLACES = {"install.py"}


def test_no_module_of_the_agent_changes_owners_or_modes_by_path() -> None:
    texts = [
        f"{path.name}:{node.lineno} {node.func.attr}"
        for path in AGENT.rglob("*.py")
        if path.name not in OWN_PLACES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in BY_PATH
    ]
    assert texts == []


def test_every_open_in_a_directory_of_a_scripts_user_follows_no_link() -> None:
    """They open through `directories`, whose flags all refuse links."""
    for flags in (directories.DIRECTORY, directories.READ, directories.CREATE):
        assert flags & os.O_NOFOLLOW
    assert directories.READ & os.O_NONBLOCK and directories.CREATE & os.O_EXCL
    for name in ("staging.py", "workdirs.py", "artifacts.py", "removal.py"):
        text = (AGENT / "workdir" / name).read_text()
        assert "os.open(" not in text
