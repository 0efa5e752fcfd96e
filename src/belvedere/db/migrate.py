"""Numbered SQL files, each applied once and in order, one transaction each."""

from importlib.resources import files

from belvedere.base.errors import Refused, Unavailable
from belvedere.db.interface import Database, Tx, is_postgres


def migrations(engine: str, folder: str = "migrations") -> list[tuple[str, str]]:
    """(name, text) of every migration for this engine: `0001_x.sql`, or `0001_x.<engine>.sql`."""
    texts = {}
    for entry in files("belvedere.db").joinpath(folder).iterdir():
        name, *variant = entry.name.removesuffix(".sql").split(".")
        if entry.name.endswith(".sql") and variant in ([], [engine]):
            texts[f"{name}{'.' + variant[0] if variant else ''}"] = entry.read_text()
    return sorted(texts.items())


def statements(text: str) -> list[str]:
    """The statements of a migration; a line of `;;` ends statements that contain semicolons."""
    if "\n;;\n" in text:
        return [part.strip() for part in text.split("\n;;\n") if part.strip()]
    bare = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--"))
    return [part.strip() for part in bare.split(";") if part.strip()]


def lock_applied(tx: Tx) -> set[str]:
    tx.execute("create table if not exists migrations (name text primary key, at bigint not null)")
    if tx.dialect.name == "postgres":
        # Creating an index over years of history may take long.
        tx.execute("set local statement_timeout = 0")
        tx.execute("set local lock_timeout = 0")
        # Two servers that start together: the second waits here and finds nothing to do.
        tx.execute("lock table migrations in access exclusive mode")
    return _names(tx)


def _names(tx: Tx) -> set[str]:
    return {name for (name,) in tx.rows("select name from migrations")}


def list_applied(tx: Tx) -> set[str]:
    """The migrations of a database that is only read; empty if it is not one of Belvedere."""
    return _names(tx) if table_exists(tx, "migrations") else set()


def check_installed(tx: Tx) -> None:
    # Other programs have tables of this name, too.
    if "migrations/0001_access" not in list_applied(tx):
        raise Unavailable("This is not a database of Belvedere: no server has started with it yet.")


def pending_names(tx: Tx, folder: str) -> set[str]:
    """The migrations of this folder that are not applied."""
    own_names = {f"{folder}/{name}" for name, _ in migrations(tx.dialect.name, folder)}
    return own_names - list_applied(tx)


def table_exists(tx: Tx, table: str) -> bool:
    if tx.dialect.name == "postgres":
        return bool(tx.value("select to_regclass(?) is not null", table))
    return bool(
        tx.value("select count(*) from sqlite_schema where type = 'table' and name = ?", table)
    )


def apply(tx: Tx, name: str, text: str) -> bool:
    if name in lock_applied(tx):
        return False
    for statement in statements(text):
        tx.execute(statement)
    tx.execute("insert into migrations (name, at) values (?, ?)", name, tx.now)
    return True


def compare(tx: Tx, folder: str) -> tuple[set[str], set[str]]:
    """The migrations of this folder that are not applied, and those that this version lacks."""
    own_names = {f"{folder}/{name}" for name, _ in migrations(tx.dialect.name, folder)}
    names = {name for name in _names(tx) if name.startswith(f"{folder}/")}
    return own_names - names, names - own_names


def check_known(tx: Tx, folder: str) -> None:
    """Refuse a schema of a newer version: its tables may no longer mean what this one assumes."""
    lock_applied(tx)
    unknown = sorted(compare(tx, folder)[1])
    if unknown:
        raise Refused(
            "A newer version of Belvedere has upgraded this database"
            f" (unknown migrations: {', '.join(unknown)})."
            " Start that version or a newer one, or restore a backup from before the upgrade."
        )


def migrate(db: Database, folder: str = "migrations") -> list[str]:
    """Bring the schema up to date; returns the names of the migrations that were applied."""
    db.write_blocking(check_known, folder)
    return [
        name
        for name, text in migrations(db.dialect.name, folder)
        if db.write_blocking(apply, f"{folder}/{name}", text)
    ]


def open_database(url: str) -> Database:
    """`postgresql://…`, or the path of a SQLite file."""
    if is_postgres(url):
        from belvedere.db.postgres.database import Postgres

        return Postgres(url)
    from belvedere.db.sqlite.database import Sqlite

    return Sqlite(url.removeprefix("sqlite://"))
