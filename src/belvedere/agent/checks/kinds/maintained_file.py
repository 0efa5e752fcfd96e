"""A file that has the content, mode and owner that its monitor sets; if not, it is restored."""

import base64
import errno
import grp
import os
import pwd
from collections.abc import Callable
from typing import Any

from belvedere.agent.checks import file_writer, safe_path
from belvedere.agent.checks.file_writer import ExpectedFile, NotRegular, OwnerNotAllowed
from belvedere.agent.checks.local_calls import explain_file_error, run_once
from belvedere.agent.checks.outcome import Outcome

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


async def check(config: dict[str, Any], memory: dict[str, Any]) -> Outcome:
    if config["problem"]:
        return Outcome("failure", "file:error:config", config["problem"])
    return await run_once(memory, maintain, config, memory)


def maintain(config: dict[str, Any], memory: dict[str, Any]) -> Outcome:
    path: str = config["path"]
    try:
        return _maintain(config, memory)
    except LookupError as fault:
        return _failure("perm", path, str(fault.args[0]))
    except NotRegular as fault:
        return _failure("type", path, str(fault))
    except OwnerNotAllowed as fault:
        return _failure("perm", path, explain_file_error(fault))
    except OSError as fault:
        return _failure(_reason(fault), path, explain_file_error(fault))


def _failure(reason: str, path: str, message: str) -> Outcome:
    return Outcome("failure", f"file:error:{reason}", f"{path}: {message}")


def _reason(fault: OSError) -> str:
    if isinstance(fault, PermissionError):
        return "access"
    if fault.errno in DISK_FULL:
        return "disk"
    is_other_kind = fault.errno in (errno.ELOOP, errno.ENOTDIR, errno.EISDIR)
    return "type" if is_other_kind else "unknown"


def _maintain(config: dict[str, Any], memory: dict[str, Any]) -> Outcome:
    expected = _expected(config)
    try:
        directory, name = safe_path.open_parent(config["path"], creates=config["restores"])
    except FileNotFoundError:
        if config["restores"]:
            raise
        return _not_restored(config["path"], ["file"])
    try:
        return _compare(config, memory, expected, directory, name)
    finally:
        os.close(directory)


def _compare(
    config: dict[str, Any],
    memory: dict[str, Any],
    expected: ExpectedFile,
    directory: int,
    name: str,
) -> Outcome:
    old = file_writer.stat_file(directory, name)
    changes = (
        ["file"]
        if old is None
        else file_writer.differences(directory, name, old, expected, memory.get("compared"))
    )
    if changes and not config["restores"]:
        return _not_restored(config["path"], changes)
    new = old
    if changes or new is None:
        new = file_writer.replace(directory, name, expected, old, config["temporary"])
    memory["compared"] = file_writer.identity(new)
    data = {"size": new.st_size, "mode": f"{expected.mode:04o}", "restored": changes}
    measured = {"bytes": float(new.st_size)}
    if not changes:
        return Outcome("normal", "success", "", data, measured)
    message = f"{config['path']} {_sentence(changes)} and was restored."
    return Outcome("changed", "file:restored", message, data, measured)


def _not_restored(path: str, changes: list[str]) -> Outcome:
    message = f"{path} {_sentence(changes)}. The monitor will restore it; this trial does not."
    return Outcome("changed", "file:changed", message)


def _sentence(changes: list[str]) -> str:
    return "did not exist" if changes == ["file"] else f"had another {', '.join(changes)}"


def _expected(config: dict[str, Any]) -> ExpectedFile:
    return ExpectedFile(
        base64.b64decode(config["source"]),
        int(config["permissions"], 8),
        _account("user", config["os_username"], lambda name: pwd.getpwnam(name).pw_uid),
        _account("group", config["os_groupname"], lambda name: grp.getgrnam(name).gr_gid),
    )


def _account(kind: str, name: str, find: Callable[[str], int]) -> int | None:
    """The number of a user or group; None without a name. LookupError if it does not exist."""
    if not name:
        return None
    try:
        return find(name)
    except KeyError:
        if name.isascii() and name.isdigit() and int(name) < 2**32 - 1:
            return int(name)
        raise LookupError(f"The {kind} {name!r} does not exist on this host.") from None
