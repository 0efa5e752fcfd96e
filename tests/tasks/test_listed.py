"""Who sees which tasks, and which of them a list names."""

import pytest

from belvedere.access import Actor, replace_acl
from belvedere.base.errors import Invalid, NotFound
from belvedere.db import Database
from belvedere.rest.listing import read
from belvedere.tasks import service
from belvedere.tasks.records import to_record
from belvedere.tasks.store import TASKS
from people import Cast

from .conftest import MISSING, Make


def names(db: Database, actor: Actor, **query: str) -> list[str]:
    listing = read({name: [value] for name, value in query.items()}, TASKS)
    found, _ = db.write_blocking(service.list_page, actor, listing)
    return [view.name for view, _ in found]


def test_it_works(db: Database, cast: Cast, make: Make) -> None:
    make(name="one")
    make(name="two", enable=False)
    assert names(db, cast.ada) == ["one", "two"]
    assert names(db, cast.ada, **{"where[name]": "two"}) == ["two"]
    assert names(db, cast.ada, **{"where[enable]": "true"}) == ["one"]
    assert names(db, cast.ada, **{"where[hostname]": "web-1", "limit": "1"}) == ["one"]
    assert names(db, cast.ada, **{"where[_type]": "ScriptTask", "sort[id]": "-1"}) == ["two", "one"]


def test_with_an_empty_acl_only_managers_see_it(db: Database, cast: Cast, make: Make) -> None:
    task = make()
    for actor in (cast.olga, cast.ada, cast.max):
        assert names(db, actor) == ["greet"]
        assert db.write_blocking(service.show, actor, task.id)[0].id == task.id
    for actor in (cast.uma, cast.vic, cast.eve):
        assert names(db, actor) == []
        with pytest.raises(NotFound) as refusal:
            db.write_blocking(service.show, actor, task.id)
        assert refusal.value.message == "There is no such task."


def test_an_acl_names_who_sees_it(db: Database, cast: Cast, make: Make) -> None:
    task = make(acl=["uma@acme.test"])
    make(name="other")
    assert names(db, cast.uma) == ["greet"]
    assert names(db, cast.vic) == []
    db.write_blocking(replace_acl, cast.max, "task", task.id, ["vic"])
    assert names(db, cast.uma) == []
    assert names(db, cast.vic) == ["greet"]
    assert names(db, cast.ada, **{"where[acl]": "vic@acme.test"}) == ["greet"]


def test_only_managers_see_who_else_is_named(db: Database, cast: Cast, make: Make) -> None:
    task = make(acl=["uma@acme.test", "vic@acme.test"])
    for actor, expected in ((cast.max, ["uma@acme.test", "vic@acme.test"]), (cast.uma, [])):
        view, acl = db.write_blocking(service.show, actor, task.id)
        assert to_record(view, actor, acl).acl == expected


def test_a_total_counts_only_visible_tasks(db: Database, cast: Cast, make: Make) -> None:
    make(name="one", acl=["uma@acme.test"])
    make(name="two", acl=["uma@acme.test"])
    make(name="three")
    listing = read({"count": ["true"], "limit": ["1"]}, TASKS)
    for actor, total in ((cast.uma, 2), (cast.ada, 3), (cast.vic, 0), (cast.eve, 0)):
        assert db.write_blocking(service.list_page, actor, listing)[1] == total


def test_what_is_missing_or_unknown_is_refused(db: Database, cast: Cast) -> None:
    with pytest.raises(NotFound):
        db.write_blocking(service.show, cast.ada, MISSING)
    with pytest.raises(Invalid):
        names(db, cast.ada, **{"where[secret]": "x"})
