"""Working folders: each job gets an empty one, and nothing of it is left afterwards.

Creating and removing a folder costs as much as half a spawn, so a folder that its job never used
(same inode change time, same mode, empty) is used again for the next job. Next to it is an empty
folder for artifacts, with the same rules.
"""

from __future__ import annotations

import os
import stat
import time

from belvedere.agent.workdir import removal
from belvedere.agent.workdir.directories import ANYONE, make_directory, open_directory

# Up to this many entries are removed by the keeper itself; larger folders are removed by another
# process, so that a script with a million files cannot block the keeper.
MAX_INLINE_REMOVAL = 64
KEPT = ".kept"
FILES = ".files"
# Folders of another user's job, each closed to all others; the one for artifacts is the last.
PARTS = ("script", "here", "files")
OLD_NS = 1_000_000_000


class Workdir:
    __slots__ = ("changed_ns", "files", "files_ns", "is_old", "owner", "path", "private")

    def __init__(self, path: str, files: str, private: str = "") -> None:
        self.path = path
        self.changed_ns = os.stat(path).st_ctime_ns
        # The folder for artifacts; empty when it was moved away.
        self.files = files
        self.files_ns = os.stat(files).st_ctime_ns
        # Old enough that any later change is visible in the change time, which is coarse.
        self.is_old = False
        # The parent folder of another user's job, which also has its copy of the script. It belongs
        # to the agent, so that nobody can replace the folders in it. It is never used again.
        self.private = private
        # The user whose files may be sent to the server.
        self.owner = ANYONE

    def hand_over(self, uid: int, gid: int) -> None:
        """Give the folders to the user of the script; until now nobody else could enter them."""
        parent = open_directory(self.private)
        try:
            for name in PARTS:
                self.files_ns = _change_owner(name, parent, uid, gid)
            self.owner = uid
            os.fchmod(parent, 0o711)
        finally:
            os.close(parent)

    def has_files(self) -> bool:
        """Whether the folder for artifacts was changed."""
        try:
            if os.lstat(self.files).st_ctime_ns != self.files_ns:
                return True
            return not self.is_old and bool(os.listdir(self.files))
        except OSError:
            # The script removed it, or changed its mode: that is a change, too.
            return True


class Workdirs:
    __slots__ = ("_count", "_free", "_root", "cleaner_pids")

    def __init__(self, root: str, *, rebooted: bool) -> None:
        self._root = root
        self._free: list[Workdir] = []
        self._count = 0
        # Processes that remove folders for the keeper.
        self.cleaner_pids: set[int] = set()
        leftovers: list[str] = []
        for name in os.listdir(root):
            number = name.removesuffix(KEPT).removesuffix(FILES)
            self._count = max(self._count, int(number) if number.isdigit() else 0)
            if rebooted or not name.endswith(KEPT):
                leftovers.append(f"{root}/{name}")
        self._sweep(leftovers)

    def take(self) -> Workdir:
        if self._free:
            return self._free.pop()
        path = self._make()
        os.mkdir(path + FILES, 0o700)
        return Workdir(path, path + FILES)

    def take_private(self) -> Workdir:
        """Folders for another user's job; they belong to the agent until `hand_over`."""
        private = self._make()
        parent = open_directory(private)
        try:
            for name in PARTS:
                os.close(make_directory(name, parent))
        finally:
            os.close(parent)
        return Workdir(f"{private}/here", f"{private}/files", private)

    def release(self, place: Workdir) -> None:
        """Reuse or remove the folder; all processes of its job have ended."""
        try:
            if place.private:
                self.remove(place.private)
            elif _is_untouched(place):
                place.is_old = time.time_ns() - place.changed_ns > OLD_NS
                self._free.append(place)
            else:
                self.remove(place.path)
                if place.files:
                    self.remove(place.files)
        except OSError:
            # Removed by the script itself, or a broken disk: the next start removes it.
            return

    def keep(self, place: Workdir) -> None:
        """Mark the folder by its name: processes that stay, or cannot be killed, still use it."""
        path = place.private or place.path
        try:
            os.rename(path, path + KEPT)
            if place.files and not place.private:
                os.rename(place.files, place.files + KEPT)
        except OSError:
            # The script removed it itself.
            return

    def remove(self, path: str) -> None:
        """Remove a folder that is no longer needed."""
        try:
            # The keeper must not be in a folder that is being removed.
            os.chdir("/")
            removal.remove(path, MAX_INLINE_REMOVAL)
        except FileNotFoundError:
            return
        except (OSError, removal.TreeTooLarge):
            self._sweep([path])

    def _make(self) -> str:
        self._count += 1
        path = f"{self._root}/{self._count}"
        os.mkdir(path, 0o700)
        return path

    def _sweep(self, paths: list[str]) -> None:
        """Remove the folders in another process, which may take any time."""
        if not paths:
            return
        # Imported here because it is needed rarely and takes memory.
        from belvedere.agent.boot import command

        words = [*command("belvedere.agent.workdir.removal"), *paths]
        try:
            os.chdir("/")
            self.cleaner_pids.add(os.posix_spawn(words[0], words, {}))
        except OSError:
            # The process cannot be started: the next start removes the folders.
            return


def _change_owner(name: str, parent: int, uid: int, gid: int) -> int:
    """Change the owner by descriptor; returns the new change time."""
    fd = open_directory(name, parent)
    try:
        os.fchown(fd, uid, gid)
        return os.fstat(fd).st_ctime_ns
    finally:
        os.close(fd)


def _is_untouched(place: Workdir) -> bool:
    if not place.files or place.has_files():
        return False
    now = os.stat(place.path)
    if now.st_ctime_ns != place.changed_ns:
        return False
    return place.is_old or (stat.S_IMODE(now.st_mode) == 0o700 and not os.listdir(place.path))
