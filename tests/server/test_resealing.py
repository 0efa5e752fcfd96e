"""Rotation of the installation's key: nothing is lost, at whatever point it is interrupted."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from belvedere.access import Keyring
from belvedere.access.crypto import key_file, sealed_values
from belvedere.access.crypto.keyring import SECRET_FILE
from belvedere.base.errors import Conflict, Unavailable
from belvedere.db import Tx
from belvedere.rest import listing
from belvedere.secrets import service as secrets
from belvedere.secrets import store
from belvedere.secrets.service import SecretBody
from belvedere.server.encryption import key_rotation, unreadable
from belvedere.server.runtime import ServerRuntime
from belvedere.server.wiring import build_runtime
from belvedere.settings import Settings
from belvedere.tasks import service as tasks
from contract.world import make_task
from people import Actors, assemble

VALUE = "correct-horse-battery"


class ServerFolder:
    """A server with its own data folder, on a database that others may share."""

    def __init__(self, db: Any, folder: Path) -> None:
        self.folder = folder
        actual_key_file = key_file.load(folder)
        self.runtime: ServerRuntime = build_runtime(
            Settings(data=str(folder)), db, db, actual_key_file.keys
        )

    def do(self, verb: Any, **payload: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.runtime.db.write_blocking(verb, self.runtime, payload)
        return answer

    def rotate_all(self) -> int:
        count = 0
        while (turn := self.do(key_rotation.rotate))["resealed"]:
            count += turn["resealed"]
        assert turn["left"] == 0
        return count

    @property
    def names(self) -> list[str]:
        return list(key_file.load(self.folder).seals)


@pytest.fixture
def server_folder(db: Any, tmp_path: Path) -> ServerFolder:
    return ServerFolder(db, tmp_path)


@pytest.fixture
def actors(server_folder: ServerFolder) -> Actors:
    return server_folder.runtime.db.write_blocking(assemble, server_folder.runtime.keyring)


def fill(place: ServerFolder, actors: Actors) -> str:
    """A secret and a task with its secret key."""
    keys, db = place.runtime.keyring, place.runtime.db
    db.write_blocking(
        secrets.put, keys, actors.ada, "API_KEY", SecretBody(value=VALUE, secret=False)
    )
    return db.write_blocking(make_task, keys, actors.ada, {"name": "x", "type": "dummy"})


def read(place: ServerFolder, actors: Actors, task_id: str) -> tuple[str | None, str]:
    """The sealed values, as this server decrypts them."""
    keys, db = place.runtime.keyring, place.runtime.db
    rows = db.write_blocking(secrets.list_page, keys, actors.ada, listing.read({}, store.SECRETS))
    return rows[0].value, db.write_blocking(tasks.reveal, keys, actors.ada, task_id)


def test_all_values_are_sealed_with_the_new_key(
    server_folder: ServerFolder, actors: Actors
) -> None:
    task_id = fill(server_folder, actors)
    before = read(server_folder, actors, task_id)
    assert before[0] == VALUE and server_folder.names == [""]
    server_folder.do(key_rotation.add)
    assert len(server_folder.names) == 2 and server_folder.runtime.keyring.key_name == ""
    assert server_folder.rotate_all() == 2
    assert server_folder.do(key_rotation.drop) == {
        "key": server_folder.names[0],
        "dropped": 1,
        "unreadable": 0,
    }
    assert len(server_folder.names) == 1 and read(server_folder, actors, task_id) == before
    # Sealed values and hashes are still valid for the next process.
    again = ServerFolder(server_folder.runtime.db, server_folder.folder)
    assert read(again, actors, task_id) == before
    assert again.runtime.keyring.digest("x") == server_folder.runtime.keyring.digest("x")
    assert (server_folder.folder / SECRET_FILE).stat().st_mode & 0o777 == 0o600


def test_nothing_is_lost_where_it_breaks_off(
    server_folder: ServerFolder, actors: Actors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After every single step another process starts from the file and the database alone."""
    monkeypatch.setattr(key_rotation, "BATCH", 1)
    task_id = fill(server_folder, actors)
    before, db = read(server_folder, actors, task_id), server_folder.runtime.db
    for verb in (key_rotation.add, *[key_rotation.rotate] * 3, key_rotation.drop):
        ServerFolder(db, server_folder.folder).do(verb)
        assert read(ServerFolder(db, server_folder.folder), actors, task_id) == before


def test_an_old_key_stays_while_anything_is_sealed_with_it(
    server_folder: ServerFolder, actors: Actors
) -> None:
    fill(server_folder, actors)
    server_folder.do(key_rotation.add)
    stale = server_folder.runtime.keyring
    server_folder.rotate_all()
    # A server that has not checked the key file yet.
    stale.use_key("")
    server_folder.runtime.db.write_blocking(
        secrets.put, stale, actors.ada, "B", SecretBody(value=VALUE)
    )
    with pytest.raises(Conflict) as refused:
        server_folder.do(key_rotation.drop)
    assert refused.value.code == "key_in_use" and len(server_folder.names) == 2
    assert server_folder.rotate_all() == 1
    assert server_folder.do(key_rotation.drop)["dropped"] == 1


def test_an_old_key_stays_until_the_new_seals_are_durable(
    server_folder: ServerFolder, actors: Actors
) -> None:
    task_id = fill(server_folder, actors)
    before = read(server_folder, actors, task_id)
    server_folder.do(key_rotation.add)

    def both(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> None:
        key_rotation.rotate(tx, runtime, payload)
        assert key_rotation.drop(tx, runtime, payload)["dropped"] == 1
        raise Unavailable("The transaction fails.")

    with pytest.raises(Unavailable):
        server_folder.do(both)
    assert (
        read(ServerFolder(server_folder.runtime.db, server_folder.folder), actors, task_id)
        == before
    )


def test_a_key_that_is_added_while_others_are_dropped_stays(
    server_folder: ServerFolder, actors: Actors
) -> None:
    """Two operators at once, whose operations share a transaction."""
    task_id = fill(server_folder, actors)
    before = read(server_folder, actors, task_id)
    server_folder.do(key_rotation.add)
    server_folder.rotate_all()

    def all_three(tx: Tx, runtime: ServerRuntime, payload: dict[str, Any]) -> None:
        assert key_rotation.drop(tx, runtime, payload)["dropped"] == 1
        key_rotation.add(tx, runtime, payload)
        key_rotation.rotate(tx, runtime, payload)

    server_folder.do(all_three)
    assert (
        read(ServerFolder(server_folder.runtime.db, server_folder.folder), actors, task_id)
        == before
    )
    server_folder.rotate_all()
    assert server_folder.do(key_rotation.drop)["dropped"] == 1
    assert (
        read(ServerFolder(server_folder.runtime.db, server_folder.folder), actors, task_id)
        == before
    )


def test_adding_a_key_twice_adds_one_key(server_folder: ServerFolder, actors: Actors) -> None:
    first = server_folder.do(key_rotation.add)
    assert server_folder.do(key_rotation.add) == first and len(server_folder.names) == 2


def test_several_servers_go_over_together(
    server_folder: ServerFolder, actors: Actors, tmp_path: Path
) -> None:
    task_id = fill(server_folder, actors)
    before = read(server_folder, actors, task_id)
    server_folder.do(key_rotation.add)
    other_folder = tmp_path / "other"
    other_folder.mkdir()
    (other_folder / SECRET_FILE).write_text((server_folder.folder / SECRET_FILE).read_text())
    (other_folder / SECRET_FILE).chmod(0o600)
    other = ServerFolder(server_folder.runtime.db, other_folder)
    assert other.runtime.keyring.key_name == ""
    server_folder.rotate_all()
    server_folder.do(key_rotation.drop)
    other.runtime.db.write_blocking(other.runtime.keyring.load_current_key)
    assert other.runtime.keyring.key_name == server_folder.runtime.keyring.key_name
    assert read(other, actors, task_id) == before
    assert other.do(key_rotation.drop)["dropped"] == 1
    assert other.names == server_folder.names


def test_a_server_without_the_key_does_not_start(
    server_folder: ServerFolder, actors: Actors, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / SECRET_FILE).write_text((server_folder.folder / SECRET_FILE).read_text())
    (other / SECRET_FILE).chmod(0o600)
    fill(server_folder, actors)
    server_folder.do(key_rotation.add)
    server_folder.rotate_all()
    with pytest.raises(Unavailable) as refused:
        ServerFolder(server_folder.runtime.db, other)
    assert refused.value.code == "unknown_key"


def test_a_tampered_value_does_not_stop_the_rotation(
    server_folder: ServerFolder, actors: Actors
) -> None:
    fill(server_folder, actors)
    server_folder.runtime.db.write_blocking(
        lambda tx: tx.execute("update secrets set box = 'AAAA'")
    )
    server_folder.do(key_rotation.add)
    assert server_folder.do(key_rotation.rotate)["resealed"] == 1
    last = server_folder.do(key_rotation.rotate)
    assert (last["resealed"], last["left"]) == (0, 1)


def tamper(place: ServerFolder, sql: str) -> None:
    place.runtime.db.write_blocking(lambda tx: tx.execute(sql))


def test_unreadable_values_keep_the_old_key_until_the_operator_decides(
    server_folder: ServerFolder, actors: Actors, caplog: pytest.LogCaptureFixture
) -> None:
    task_id = fill(server_folder, actors)
    tamper(server_folder, "update secrets set box = 'AAAA'")
    tamper(server_folder, """update tasks set spec = '{"$sealed":"AAAA","name":"x"}'""")
    server_folder.do(key_rotation.add)
    assert server_folder.do(key_rotation.rotate)["left"] == 2
    with pytest.raises(Conflict) as refused:
        server_folder.do(key_rotation.drop)
    assert refused.value.code == "key_unreadable" and "2 values" in refused.value.message
    assert len(server_folder.names) == 2
    report = server_folder.do(key_rotation.check)
    assert report["unreadable"] == 2
    secret, task = report["values"]
    assert secret["row"] == {"customer_id": actors.acme.id, "task_id": "", "name": "API_KEY"}
    assert (secret["table"], secret["organization"]) == ("secrets", "acme")
    assert (task["table"], task["row"], task["organization"]) == ("tasks", {"id": task_id}, "acme")
    done = server_folder.do(key_rotation.drop, skip_unreadable=True)
    assert (done["dropped"], done["unreadable"], len(server_folder.names)) == (1, 2, 1)
    # The rows are still there, and the log says which they were.
    rows = server_folder.runtime.db.write_blocking(lambda tx: tx.rows("select box from secrets"))
    assert rows == [("AAAA",)]
    lines = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert any("table=secrets" in line and "organization=acme" in line for line in lines)


def test_values_that_a_key_opens_are_never_skipped(
    server_folder: ServerFolder, actors: Actors
) -> None:
    """The operator's choice is about values that are lost already, not about a missed rotation."""
    fill(server_folder, actors)
    tamper(server_folder, "update secrets set box = 'AAAA'")
    server_folder.do(key_rotation.add)
    stale = server_folder.runtime.keyring
    assert server_folder.do(key_rotation.rotate)["left"] == 1
    stale.use_key("")
    server_folder.runtime.db.write_blocking(
        secrets.put, stale, actors.ada, "B", SecretBody(value=VALUE)
    )
    for verb in (key_rotation.drop, key_rotation.check):
        with pytest.raises(Conflict) as refused:
            server_folder.do(verb, skip_unreadable=True)
        assert refused.value.code == "key_in_use"
    assert len(server_folder.names) == 2


def test_unreadable_values_do_not_hide_others(
    server_folder: ServerFolder, actors: Actors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step of a rotation used to read the same first rows, which no key decrypts."""
    monkeypatch.setattr(key_rotation, "BATCH", 2)
    monkeypatch.setattr(unreadable, "PAGE", 2)
    db, keys = server_folder.runtime.db, server_folder.runtime.keyring
    for name in ("A", "B", "C", "D", "E", "F"):
        db.write_blocking(secrets.put, keys, actors.ada, name, SecretBody(value=VALUE))
    tamper(server_folder, "update secrets set box = 'AAAA' where name <= 'C'")
    server_folder.do(key_rotation.add)
    assert [server_folder.do(key_rotation.rotate)["resealed"] for _ in range(3)] == [2, 1, 0]
    assert server_folder.do(key_rotation.check)["unreadable"] == 3


def test_a_list_with_boxes_of_two_keys_keeps_the_old_key(
    server_folder: ServerFolder, actors: Actors
) -> None:
    """Arguments go from job to job: a new value may be beside one that an old key sealed."""
    db, keys = server_folder.runtime.db, server_folder.runtime.keyring
    about = sealed_values.values_context(actors.acme.id)
    old = keys.seal("old", about)
    server_folder.do(key_rotation.add)
    server_folder.rotate_all()
    boxes = [{"$sealed": keys.seal("new", about)}, {"$sealed": old}]
    text = msgspec.json.encode(boxes).decode()
    db.write_blocking(
        lambda tx: tx.execute(
            "insert into jobs (id, customer_id, type, name, lifecycle, state, origin, timeout,"
            " expires_at, created_at, updated_at, arguments) values ('0a', ?, 'dummy', 'x',"
            " 'ready', 'in_progress', 'user', 60, 1, 1, 1, ?)",
            *(actors.acme.id, text),
        )
    )
    with pytest.raises(Conflict):
        server_folder.do(key_rotation.drop)
    assert server_folder.rotate_all() == 1 and server_folder.do(key_rotation.drop)["dropped"] == 1
    result = db.write_blocking(lambda tx: tx.value("select arguments from jobs"))
    values = sealed_values.open_values(keys, actors.acme.id, msgspec.json.decode(result))
    assert values == ["new", "old"]


def test_every_sealed_column_is_known(server_folder: ServerFolder) -> None:
    """A table with sealed values that is not named here would lose them."""
    names = {(item.table, item.name) for item in key_rotation.SEALED}
    sql = {
        "sqlite": "select m.name, c.name from sqlite_master m, pragma_table_info(m.name) c"
        " where m.type = 'table'",
        "postgres": "select table_name, column_name from information_schema.columns"
        " where table_schema = current_schema()",
    }[server_folder.runtime.db.dialect.name]
    rows = server_folder.runtime.db.write_blocking(lambda tx: tx.rows(sql))
    assert {(t, c) for t, c in rows if c == "box" or c.endswith("_box")} == names


def test_a_key_in_the_setting_is_not_written_anywhere(db: Any, tmp_path: Path) -> None:
    setting = "ab" * 32
    keys = key_file.load(tmp_path, setting).keys
    runtime = build_runtime(Settings(data=str(tmp_path), secret_key=setting), db, db, keys)
    with pytest.raises(Conflict) as refused:
        db.write_blocking(key_rotation.add, runtime, {})
    assert refused.value.code == "key_in_setting"
    text = refused.value.message.rpartition(": ")[2]
    assert len(key_file.parse(text, "it").seals) == 2
    assert not (tmp_path / SECRET_FILE).exists()
    assert isinstance(keys, Keyring)


@pytest.mark.parametrize("text", ["", "hash", "hash " + "a" * 64, "seal " + "a" * 64, "x y"])
def test_half_a_file_is_refused(text: str) -> None:
    with pytest.raises(Unavailable):
        key_file.parse(text, "it")
