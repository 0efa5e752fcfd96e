"""Who sees which tasks, and which of them a list contains."""

import pytest

from belvedere.access import Actor, replace_acl
from belvedere.base.errors import Invalid, NotFound
from belvedere.db import Database
from belvedere.rest.listing import read
from belvedere.tasks import service
from belvedere.tasks.records import to_record
from belvedere.tasks.store import TASKS
from people import Actors

from .conftest import MISSING, Make


def names(db: Database, actor: Actor, **query: str) -> list[str]:
    listing = read({name: [value] for name, value in query.items()}, TASKS)
    items, _ = db.write_blocking(service.list_page, actor, listing)
    return [view.name for view, _ in items]


def test_tasks_are_filtered(db: Database, actors: Actors, make: Make) -> None:
    make(name="one")
    make(name="two", enable=False)
    assert names(db, actors.ada) == ["one", "two"]
    assert names(db, actors.ada, **{"where[name]": "two"}) == ["two"]
    assert names(db, actors.ada, **{"where[enable]": "true"}) == ["one"]
    assert names(db, actors.ada, **{"where[hostname]": "web-1", "limit": "1"}) == ["one"]
    assert names(db, actors.ada, **{"where[_type]": "ScriptTask", "sort[id]": "-1"}) == [
        "two",
        "one",
    ]


def test_with_an_empty_acl_only_managers_see_it(db: Database, actors: Actors, make: Make) -> None:
    task = make()
    for actor in (actors.olga, actors.ada, actors.max):
        assert names(db, actor) == ["greet"]
        assert db.write_blocking(service.show, actor, task.id)[0].id == task.id
    for actor in (actors.uma, actors.vic, actors.eve):
        assert names(db, actor) == []
        with pytest.raises(NotFound) as refusal:
            db.write_blocking(service.show, actor, task.id)
        assert refusal.value.message == "There is no such task."


def test_an_acl_names_who_sees_a_task(db: Database, actors: Actors, make: Make) -> None:
    task = make(acl=["uma@acme.test"])
    make(name="other")
    assert names(db, actors.uma) == ["greet"]
    assert names(db, actors.vic) == []
    db.write_blocking(replace_acl, actors.max, "task", task.id, ["vic"])
    assert names(db, actors.uma) == []
    assert names(db, actors.vic) == ["greet"]
    assert names(db, actors.ada, **{"where[acl]": "vic@acme.test"}) == ["greet"]


def test_only_managers_see_who_else_is_named(db: Database, actors: Actors, make: Make) -> None:
    task = make(acl=["uma@acme.test", "vic@acme.test"])
    for actor, expected in ((actors.max, ["uma@acme.test", "vic@acme.test"]), (actors.uma, [])):
        view, acl = db.write_blocking(service.show, actor, task.id)
        assert to_record(view, actor, acl).acl == expected


def test_a_total_counts_only_visible_tasks(db: Database, actors: Actors, make: Make) -> None:
    make(name="one", acl=["uma@acme.test"])
    make(name="two", acl=["uma@acme.test"])
    make(name="three")
    listing = read({"count": ["true"], "limit": ["1"]}, TASKS)
    for actor, total in ((actors.uma, 2), (actors.ada, 3), (actors.vic, 0), (actors.eve, 0)):
        assert db.write_blocking(service.list_page, actor, listing)[1] == total


def test_a_missing_task_and_an_unknown_filter_are_refused(db: Database, actors: Actors) -> None:
    with pytest.raises(NotFound):
        db.write_blocking(service.show, actors.ada, MISSING)
    with pytest.raises(Invalid):
        names(db, actors.ada, **{"where[secret]": "x"})
