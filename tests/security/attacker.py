"""A user of scripts who acts between every two file operations of a keeper.

Python reports each of them to an audit hook before it is made. The hook lets a process of that user
act first, so a race is won at every point where it can be won, on every run.
"""

import os
import sys
from collections.abc import Callable
from contextlib import suppress

USER, UID = "nobody", 65534
EVENTS = ("open", "os.chown", "os.chmod", "os.mkdir", "os.rename", "os.remove", "os.rmdir")
# Working folders are numbered; a test needs few of them.
PLACES = range(1, 6)

Attack = Callable[[str, str, str], None]


def swap(path: str, target: str) -> None:
    """A link in place of an existing file; nothing while there is none."""
    with suppress(OSError):
        if not os.path.islink(path):
            os.rename(path, f"{path}.old")
            os.symlink(target, path)


def replace_argument(place: str, victim: str, _: str) -> None:
    swap(f"{place}/here/given", victim)


def replace_working_directory(place: str, _: str, closed: str) -> None:
    swap(f"{place}/here", closed)


def replace_files_directory(place: str, _: str, closed: str) -> None:
    swap(f"{place}/files", closed)


def replace_script_directory(place: str, _: str, closed: str) -> None:
    swap(f"{place}/script", closed)


def replace_script(place: str, victim: str, _: str) -> None:
    swap(f"{place}/script/test.sh", victim)


def replace_result(place: str, victim: str, _: str) -> None:
    swap(f"{place}/files/result", victim)


def replace_subdirectory(place: str, _: str, closed: str) -> None:
    swap(f"{place}/here/sub", closed)


ATTACKS: dict[str, Attack] = {
    attack.__name__: attack
    for attack in (
        replace_argument,
        replace_working_directory,
        replace_files_directory,
        replace_script_directory,
        replace_script,
        replace_result,
        replace_subdirectory,
    )
}


def arm(name: str, work: str, victim: str, closed: str) -> None:
    """In the keeper's process, before it starts."""
    is_acting = False

    def act(event: str, _: object) -> None:
        nonlocal is_acting
        if event not in EVENTS or is_acting:
            return
        is_acting = True
        try:
            _as_user(lambda place: ATTACKS[name](place, victim, closed), work)
        finally:
            is_acting = False

    sys.addaudithook(act)


def _as_user(attack: Callable[[str], None], work: str) -> None:
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setgroups([])
        os.setgid(UID)
        os.setuid(UID)
        for number in PLACES:
            attack(f"{work}/{number}")
    finally:
        os._exit(0)
