"""Attacks with patterns: a pattern must not cost the server or a host more than its limits say."""

import asyncio
import threading
import traceback
from typing import Any

import pytest

from belvedere.base.errors import Invalid
from belvedere.base.ids import new_id
from belvedere.base.text import regex, regex_syntax, search
from belvedere.base.text.regex_syntax import MAX_PATTERN
from belvedere.rest.patterns import matcher
from belvedere.tasks import service
from belvedere.tasks.definition.validation import MAX_PATTERN_TEXT
from contract.client import Client, Response
from contract.world import World
from security.counting import steps

BOMBS = [
    "(?:){20000000}",
    "(?:(?:(?:){999}){999}){999}",
    "(?:" * 100 + "a" + "){9}" * 100,
    "a{4294967294}",
    "((((((((((a?){9}){9}){9}){9}){9}){9}){9}){9}){9}){9}",
    "(" * 499 + ")" * 499,
]
# The largest that are accepted, of every shape that costs something.
LARGEST = [
    r"\w{499}",
    "(?:a?){249}",
    "(?:[^a]*[^b]*){124}",
    "[ab]" * 249,
    "(?i)" + "[ab]" * 248,
    "(?i)[" + "".join(chr(0xC0 + n) for n in range(60)) + "]{499}",
    "[" + "".join(chr(0x100 + n) for n in range(900)) + "]{60}",
    "(" * 49 + "a" + ")*" * 49,
    "|".join(["ab"] * 160),
    "(?#" + "x" * 990 + ")a",
]


def _argument(text: str) -> dict[str, Any]:
    return {"type": "regexp", "label": "x", "order": 0, "pattern": text}


async def _task(ada: Client, *texts: str) -> Response:
    arguments = [_argument(text) for text in texts]
    body = {"name": "t", "type": "dummy", "task_arguments": arguments}
    return await ada.post("/acme/task", body)


@pytest.mark.parametrize("text", BOMBS)
def test_a_pattern_that_grows_is_refused_before_anything_is_built(text: str) -> None:
    plain = steps(lambda: regex_syntax.parse_pattern("[a-z]+-[0-9]{1,8}"))
    for check in (regex_syntax.parse_pattern, regex.Pattern, matcher.RE2Pattern):

        def check_refused(check: Any = check) -> None:
            with pytest.raises(Invalid, match="The pattern cannot be used"):
                check(text)

        # The parser of the standard library reads each of the 1,000 characters that are allowed.
        assert steps(check_refused) < 300 * plain


@pytest.mark.parametrize("text", LARGEST)
def test_the_largest_pattern_costs_a_bounded_multiple_of_a_plain_one(text: str) -> None:
    plain = steps(lambda: matcher.RE2Pattern("[a-z]+-[0-9]{1,8}"))
    assert steps(lambda: matcher.RE2Pattern(text)) < 150 * plain
    built = steps(lambda: regex.Pattern("[a-z]+-[0-9]{1,8}"))
    assert steps(lambda: regex.Pattern(text)) < 150 * built
    re2_pattern = matcher.compiled(text)
    for letter in ("a", "é"):
        # RE2 does the work; our own part is one lookup per letter.
        assert steps(lambda letter=letter: re2_pattern.matches(letter * matcher.MAX_TEXT)) < 20_000  # type: ignore[misc]


async def test_all_patterns_of_the_most_expensive_task_cost_a_bounded_multiple(
    ada: Client,
) -> None:
    """Starts by schedules, triggers, webhooks and workflows compile the patterns of a task that the
    server has not compiled yet on the event loop. The most expensive pattern takes 4.3 ms there (a
    plain one 0.2 ms), all patterns that one task may have take ten times that: less than the 100 ms
    that are allowed, so they are not compiled elsewhere. After that they are cached."""
    texts = [f"(?i){n:02}" + "[ab]" * 248 for n in range(MAX_PATTERN_TEXT // MAX_PATTERN)]
    assert (await _task(ada, *texts)).status == 200
    refused = await _task(ada, *texts, "zz" + "[ab]" * 249)
    assert refused.status == 400
    plain = steps(lambda: matcher.RE2Pattern("[a-z]+-[0-9]{1,8}"))
    total = steps(lambda: [matcher.RE2Pattern(text) for text in texts])
    assert total < 600 * plain
    assert all(
        steps(lambda text=text: matcher.RE2Pattern(text)) <= total / len(texts) * 1.1  # type: ignore[misc]
        for text in LARGEST
    )
    assert steps(lambda: [matcher.compiled(text) for text in texts]) < plain


async def test_no_task_is_created_with_a_pattern_that_grows(ada: Client) -> None:
    for text in BOMBS:
        refused = await _task(ada, text)
        assert refused.status == 400
        assert "task_arguments[0].pattern" in refused.text


async def test_patterns_compile_on_a_thread_and_before_the_transaction(
    ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing waits for it: neither the event loop nor the writer of the database."""
    items: list[tuple[threading.Thread, bool]] = []
    in_transaction = threading.local()
    compile_, create = matcher._compile, service.create

    def compiling(*args: Any) -> Any:
        items.append((threading.current_thread(), getattr(in_transaction, "is_open", False)))
        return compile_(*args)

    def creating(*args: Any, **more: Any) -> Any:
        in_transaction.is_open = True
        try:
            return create(*args, **more)
        finally:
            in_transaction.is_open = False

    monkeypatch.setattr(matcher, "_compile", compiling)
    monkeypatch.setattr(service, "create", creating)
    assert (await _task(ada, f"{new_id()}-[0-9]+")).status == 200
    assert items
    assert all(thread is not threading.main_thread() and not is_open for thread, is_open in items)


async def test_patterns_of_one_task_are_bounded_together(ada: Client) -> None:
    refused = await _task(ada, *(f"{n:02}" + "(?:a?b?){123}" for n in range(30)))
    assert refused.status == 400 and "too large together" in refused.text
    refused = await _task(ada, *(f"{n:02}(?#{'x' * 900})" for n in range(20)))
    assert refused.status == 400 and "10000 characters" in refused.text
    assert (await _task(ada, *(rf"{n:02}[\w.-]{{1,20}}" for n in range(30)))).status == 200


async def test_patterns_of_one_request_are_bounded_together(ada: Client) -> None:
    task = {"name": "t", "type": "dummy"}
    tasks = [
        {**task, "id": f"t{n}", "task_arguments": [_argument(f"{n:03}(?#{'x' * 900})")]}
        for n in range(60)
    ]
    nodes = [{"v": item["id"], "value": {"_type": "DummyTask"}} for item in tasks]
    recipe = {"name": "w", "tasks": tasks, "graph": {"nodes": nodes, "edges": []}}
    refused = await ada.post("/acme/workflows/import", recipe)
    assert (refused.status, refused.code) == (400, "bad_pattern")


async def test_a_stored_pattern_that_cannot_be_used_gives_a_clear_error(
    world: World, ada: Client
) -> None:
    """It was stored by an earlier version: the task is kept, its runs and edits say what to do."""
    task_id = (await _task(ada, "[0-9]+")).json["id"]

    def plant(tx: Any) -> None:
        (spec,) = tx.row("select spec from tasks where id = ?", task_id)
        changed = spec.replace('"[0-9]+"', r'"(?=a)(b)\\2"').replace(r"\\2", r"\\1")
        assert changed != spec
        tx.execute("update tasks set spec = ? where id = ?", changed, task_id)

    await world.runtime.db.write(plant)
    assert (await ada.get(f"/acme/task/{task_id}")).json["task_arguments"][0]["pattern"]
    run = await ada.post("/acme/job", {"task": task_id, "task_arguments": ["b"]})
    assert run.status == 400 and "change its pattern" in run.text and "look-ahead" in run.text
    edit = await ada.patch(f"/acme/task/{task_id}", {"name": "other"})
    assert edit.status == 400 and "look-ahead" in edit.text and "alternatives" in edit.text


async def test_a_text_cannot_make_a_host_search_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The text of a web page is chosen by others."""
    monkeypatch.setattr(search, "MAX_VISITS", 200_000)
    costly = regex.compile_pattern("(.*a){8}.{90}c")
    pattern_search = search.PatternSearch(costly)
    letters = iter(_noise())
    with pytest.raises(search.TooCostly):
        while not pattern_search.feed(next(letters)):
            await asyncio.sleep(0)
    assert search.MAX_VISITS < pattern_search.visits <= search.MAX_VISITS + regex_syntax.MAX_STATES
    # The next text starts from zero.
    pattern_search.restart()
    assert not pattern_search.feed("aaaa", last=True)


def _noise() -> Any:
    seed = 1
    while True:
        piece = []
        for _ in range(64):
            seed = (seed * 1_103_515_245 + 12_345) % 2**31
            piece.append("ab"[seed >> 16 & 1])
        yield "".join(piece)


async def test_a_stored_pattern_is_compiled_outside_the_transaction(
    ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after a start, and when other patterns have replaced it in memory."""
    task = (await _task(ada, "[a-z]+", "[0-9]+")).json
    in_transaction: list[bool] = []
    build = matcher.RE2Pattern.__init__

    def record_match(re2_pattern: matcher.RE2Pattern, text: str) -> None:
        names = {frame.name for frame in traceback.extract_stack()}
        in_transaction.append("_fit_arguments" in names)
        build(re2_pattern, text)

    monkeypatch.setattr(matcher.RE2Pattern, "__init__", record_match)
    run = {"task": task["id"], "task_arguments": ["abc", "12"]}
    for _ in range(2):
        matcher.cache.clear()
        response = await ada.post("/acme/job", run)
        assert response.status == 200, response.text
    assert in_transaction == [False] * 4
    # What is compiled stays compiled, and a value that does not match is refused as before.
    refused = await ada.post("/acme/job", {**run, "task_arguments": ["abc", "x"]})
    assert (refused.status, refused.json["code"]) == (400, "bad_arguments")
    again = await ada.put(f"/acme/job/{response.json['id']}/restart", {})
    assert again.status == 200, again.text
    assert len(in_transaction) == 4


def test_the_number_of_cached_patterns_is_limited() -> None:
    matcher.cache.clear()
    for number in range(matcher.MAX_CACHED + 1):
        matcher.compiled(f"a{number}")
    assert "a0" not in matcher.cache and "a1" in matcher.cache
    matcher.compiled("a1")
    matcher.compiled("b")
    assert "a1" in matcher.cache and "a2" not in matcher.cache
