"""Working folders: each job finds a fresh one, and nothing of it stays behind.

Making and removing a folder costs as much as half a spawn, so a folder that its job never touched
(same inode change time, same mode, empty) is as good as new and serves the next job. Beside it
lies an empty folder for files that shall go to the server, under the same rules.
"""

from __future__ import annotations

import os
import stat
import time

# Up to this many plain files are removed on the spot; anything bigger is left to rm, so that a
# script that filled its folder with a million files cannot hold up the keeper.
FEW = 64
KEPT = ".kept"
FILES = ".files"
OLD_NS = 1_000_000_000


class Workplace:
    __slots__ = ("changed_ns", "files", "files_ns", "is_old", "path", "private")

    def __init__(self, path: str, files: str, private: str = "") -> None:
        self.path = path
        self.changed_ns = os.stat(path).st_ctime_ns
        # For what shall go to the server; empty once it was taken away.
        self.files = files
        self.files_ns = os.stat(files).st_ctime_ns
        # So old that any later change shows in the change time, whose ticks are coarse.
        self.is_old = False
        # Another user's job has a folder around it, which holds its copy of the script and which
        # nobody else can enter; it is never used again.
        self.private = private

    def has_files(self) -> bool:
        """Whether anything was done to the folder for files."""
        try:
            if os.lstat(self.files).st_ctime_ns != self.files_ns:
                return True
            return not self.is_old and bool(os.listdir(self.files))
        except OSError:
            # The script removed it, or shut it: that is something, too.
            return True


class Workplaces:
    __slots__ = ("_count", "_free", "_root", "brooms")

    def __init__(self, root: str, *, rebooted: bool) -> None:
        self._root = root
        self._free: list[Workplace] = []
        self._count = 0
        # Processes of our own that remove folders.
        self.brooms: set[int] = set()
        for name in os.listdir(root):
            number = name.removesuffix(KEPT).removesuffix(FILES)
            self._count = max(self._count, int(number) if number.isdigit() else 0)
            if rebooted or not name.endswith(KEPT):
                self._sweep(f"{root}/{name}")

    def take(self) -> Workplace:
        if self._free:
            return self._free.pop()
        path = self._make()
        os.mkdir(path + FILES, 0o700)
        return Workplace(path, path + FILES)

    def take_for(self, uid: int, gid: int) -> Workplace:
        """A folder of another user's own."""
        private = self._make()
        path, files = private + "/here", private + "/files"
        for folder in (path, files):
            os.mkdir(folder, 0o700)
            os.chown(folder, uid, gid)
        os.chown(private, uid, gid)
        return Workplace(path, files, private)

    def leave(self, place: Workplace) -> None:
        """All processes of its job are gone."""
        try:
            if place.private:
                self._sweep(place.private)
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

    def keep(self, place: Workplace) -> None:
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
            self._remove(path)
        except OSError:
            # Gone already.
            return

    def _make(self) -> str:
        self._count += 1
        path = f"{self._root}/{self._count}"
        os.mkdir(path, 0o700)
        return path

    def _remove(self, path: str) -> None:
        names = os.listdir(path)
        if len(names) > FEW:
            self._sweep(path)
            return
        try:
            for name in names:
                os.unlink(f"{path}/{name}")
            os.rmdir(path)
        except OSError:
            self._sweep(path)

    def _sweep(self, path: str) -> None:
        try:
            # Not from within a folder that is about to go.
            os.chdir("/")
            self.brooms.add(os.posix_spawn("/bin/rm", ["rm", "-rf", "--", path], {}))
        except OSError:
            # No process to be had: the next start sweeps.
            return


def _is_untouched(place: Workplace) -> bool:
    if not place.files or place.has_files():
        return False
    now = os.stat(place.path)
    if now.st_ctime_ns != place.changed_ns:
        return False
    return place.is_old or (stat.S_IMODE(now.st_mode) == 0o700 and not os.listdir(place.path))
