"""Restores a backup into an empty location, and marks the database as restored: the next start of
a server holds the jobs that may have run since the backup."""

import hmac
from collections.abc import Callable
from pathlib import Path

import msgspec

from belvedere.access.crypto import key_file
from belvedere.access.crypto.key_file import KeyFile
from belvedere.access.crypto.keyring import SECRET_FILE
from belvedere.base.errors import Conflict, Invalid
from belvedere.db import Tx
from belvedere.db.backup import copy
from belvedere.db.backup.archive import BackupReader, Report, open_backup
from belvedere.jobs.recovery import restore
from belvedere.server.backup import key_part
from belvedere.server.backup.create import full_disk, load_keys, location_of, signer
from belvedere.settings import Settings

# Asks for the passphrase of the key.
Prompt = Callable[[], str]


class RestoreRecord(msgspec.Struct):
    """What was restored, for the command line."""

    file: str
    engine: str
    version: str
    created_at: str
    rows: int
    epoch: int
    # What the operator has to copy there before the server starts; empty if the key is in place.
    missing_key: str
    # Whether the key of the installation has confirmed that nobody changed the file.
    is_signed: bool
    # Whether an earlier restore into this location was interrupted.
    is_repeated: bool = False
    # Whether this one has continued it.
    is_continued: bool = False


def restore_backup(
    settings: Settings, source: Path, prompt: Prompt, report: Report, *, unsigned: bool = False
) -> RestoreRecord:
    """Everything is checked before anything is written. A file that an interrupted restore has
    checked is not read for it again: each part is also checked while it is extracted."""
    location = location_of(settings)
    with open_backup(source) as reader:
        manifest = reader.manifest
        copy.check_fits(location, source, manifest)
        earlier = copy.check_empty(location, reader)
        keys = load_keys(settings)
        sealed_keys = _read_keys(reader, source, prompt)
        _check_keys(settings, reader, keys, sealed_keys)
        candidate = keys or sealed_keys
        if candidate is not None:
            reader.check_signature(signer(candidate), is_required=not unsigned)
        new_keys = _merge_keys(settings, keys, sealed_keys)
        if not earlier.is_checked:
            reader.verify(report)
        settings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with full_disk(settings.folder), _KeyChange(settings.folder, keys, new_keys) as change:
            epoch = copy.load_backup(location, reader, change.before_commit, report)
    has_key = bool(keys or sealed_keys) or not manifest.key_check
    return RestoreRecord(
        str(source),
        *manifest.origin,
        sum(manifest.tables.values()),
        epoch,
        "" if has_key else str(settings.folder / SECRET_FILE),
        bool((keys or sealed_keys) and reader.seal.signature),
        earlier.exists,
        earlier.is_continued,
    )


class _KeyChange:
    """Writes secret.key before the database is complete: a process that is killed must not leave
    one without its key. After an error, the file is again what it was, unless the database may
    have been committed."""

    def __init__(self, folder: Path, before: KeyFile | None, keys: KeyFile | None) -> None:
        self._folder, self._before, self._keys = folder, before, keys
        self._is_final = False

    def __enter__(self) -> "_KeyChange":
        if self._keys is not None:
            key_file.write(self._folder, self._keys)
        return self

    def before_commit(self, tx: Tx) -> int:
        """The last operation: from here on, an error does not tell whether the database has the
        rows, and a key too many does no harm."""
        epoch = restore.mark_restored(tx)
        self._is_final = True
        return epoch

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or self._keys is None or self._is_final:
            return
        if self._before is not None:
            key_file.write(self._folder, self._before)
        else:
            (self._folder / SECRET_FILE).unlink(missing_ok=True)


def _merge_keys(
    settings: Settings, keys: KeyFile | None, sealed_keys: KeyFile | None
) -> KeyFile | None:
    """What secret.key must contain; None if it stays. A key that was dropped since the backup
    decrypts the restored secrets."""
    if sealed_keys is None or keys is None:
        return sealed_keys
    if sealed_keys.seals.keys() <= keys.seals.keys():
        return None
    if settings.secret_key:
        raise Conflict(
            "BELVEDERE_SECRET_KEY lacks a key that the backup is encrypted with. Run the restore"
            " without this setting: then the keys of the backup are written to"
            f" {settings.folder / SECRET_FILE}."
        )
    return key_file.merge(sealed_keys, keys)


def _read_keys(reader: BackupReader, source: Path, prompt: Prompt) -> KeyFile | None:
    part = next((part for part in reader.manifest.parts if part.name == key_part.NAME), None)
    if part is None:
        return None
    if part.size > key_part.MAX_SIZE:
        raise Invalid(f"The key in {source} is too large.")
    data = b"".join(reader.blocks(part))
    return key_file.parse(key_part.unseal(data, prompt()), f"The key in {source}")


def _check_keys(
    settings: Settings, reader: BackupReader, keys: KeyFile | None, sealed_keys: KeyFile | None
) -> None:
    """Both keys must be those of the database in the backup."""
    if sealed_keys is not None and not _is_key_of(reader, sealed_keys):
        raise Invalid("The key in the backup belongs to another installation than its database.")
    if keys is None or _is_key_of(reader, keys):
        return
    if settings.secret_key:
        raise Conflict(
            "The key in BELVEDERE_SECRET_KEY belongs to another installation than the backup. Set"
            " the key of the backup, or unset it.",
        )
    raise Conflict(
        f"The key in {settings.folder / SECRET_FILE} belongs to another installation than"
        " the backup. Copy the key of the backup there, or remove it.",
    )


def _is_key_of(reader: BackupReader, keys: KeyFile) -> bool:
    """Also if no server has used the database yet."""
    key_check = reader.manifest.key_check
    return not key_check or hmac.compare_digest(key_check, keys.keys.digest("key check"))
