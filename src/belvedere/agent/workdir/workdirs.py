"""Working folders: each job finds a fresh one, and nothing of it stays behind.

Making and removing a folder costs as much as half a spawn, so a folder that its job never touched
(same inode change time, same mode, empty) is as good as new and serves the next job. Beside it
lies an empty folder for files that shall go to the server, under the same rules.
"""

from __future__ import annotations

import os
import stat
import time

from belvedere.agent.workdir import removal
from belvedere.agent.workdir.directories import ANYONE, make_directory, open_directory

# Up to this many entries are removed on the spot; anything bigger is left to another process, so
# that a script that filled its folder with a million files cannot hold up the keeper.
MAX_INLINE_REMOVAL = 64
KEPT = ".kept"
FILES = ".files"
# What another user's job gets, each closed to everybody else; the one for files is the last.
PARTS = ("script", "here", "files")
OLD_NS = 1_000_000_000


class Workdir:
    __slots__ = ("changed_ns", "files", "files_ns", "is_old", "owner", "path", "private")

    def __init__(self, path: str, files: str, private: str = "") -> None:
        self.path = path
        self.changed_ns = os.stat(path).st_ctime_ns
        # For what shall go to the server; empty once it was taken away.
        self.files = files
        self.files_ns = os.stat(files).st_ctime_ns
        # So old that any later change shows in the change time, whose ticks are coarse.
        self.is_old = False
        # Another user's job has a folder around it, which holds its copy of the script too. That
        # folder stays ours: nobody can put something else in the place of what is in it. It is
        # never used again.
        self.private = private
        # The user whose files may go to the server.
        self.owner = ANYONE

    def hand_over(self, uid: int, gid: int) -> None:
        """The last step before another user's script starts: until now nobody else could enter."""
        parent = open_directory(self.private)
        try:
            for name in PARTS:
                self.files_ns = _give(name, parent, uid, gid)
            self.owner = uid
            os.fchmod(parent, 0o711)
        finally:
            os.close(parent)

    def has_files(self) -> bool:
        """Whether anything was done to the folder for files."""
        try:
            if os.lstat(self.files).st_ctime_ns != self.files_ns:
                return True
            return not self.is_old and bool(os.listdir(self.files))
        except OSError:
            # The script removed it, or shut it: that is something, too.
            return True


class Workdirs:
    __slots__ = ("_count", "_free", "_root", "cleaner_pids")

    def __init__(self, root: str, *, rebooted: bool) -> None:
        self._root = root
        self._free: list[Workdir] = []
        self._count = 0
        # Processes of our own that remove folders.
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
        """Folders for another user's job; they are ours until they are handed over."""
        private = self._make()
        parent = open_directory(private)
        try:
            for name in PARTS:
                os.close(make_directory(name, parent))
        finally:
            os.close(parent)
        return Workdir(f"{private}/here", f"{private}/files", private)

    def leave(self, place: Workdir) -> None:
        """All processes of its job are gone."""
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
            # Removed by the script itself, or a disk in trouble: the next start sweeps.
            return

    def keep(self, place: Workdir) -> None:
        """Processes that may stay, or will not go, stand in it; its name tells recovery so."""
        path = place.private or place.path
        try:
            os.rename(path, path + KEPT)
            if place.files and not place.private:
                os.rename(place.files, place.files + KEPT)
        except OSError:
            # The script removed it itself.
            return

    def remove(self, path: str) -> None:
        """A folder that nobody needs any more."""
        try:
            # Not from within a folder that is about to go.
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
        """By a process of its own, however long it takes."""
        if not paths:
            return
        # Needed rarely, and it takes memory.
        from belvedere.agent.boot import command

        words = [*command("belvedere.agent.workdir.removal"), *paths]
        try:
            os.chdir("/")
            self.cleaner_pids.add(os.posix_spawn(words[0], words, {}))
        except OSError:
            # No process to be had: the next start sweeps.
            return


def _give(name: str, parent: int, uid: int, gid: int) -> int:
    """To its user, by descriptor; its change time since."""
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
