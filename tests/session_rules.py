"""Rules of a test session: coroutines are tests, each test has a time limit, and tests marked
`alone` run while no other test runs."""

import asyncio
import fcntl
import inspect
import shutil
import signal
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

LOCKS = pytest.StashKey[Path]()
LIMIT_S = 60.0


def pytest_configure(config: pytest.Config) -> None:
    result = getattr(config, "workerinput", None)
    config.stash[LOCKS] = Path(
        result["locks"] if result else tempfile.mkdtemp(prefix="belvedere-tests-")
    )


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["locks"] = str(node.config.stash[LOCKS])


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        shutil.rmtree(config.stash[LOCKS])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_phase)


def _phase(item: pytest.Item) -> int:
    """Heavy tests come first: the workers share the list in equal, contiguous parts, so one worker
    gets them all, and the others take over the rest of its part. Those that need a quiet machine
    come last, so that the parallel part is not interrupted."""
    if item.get_closest_marker("alone"):
        return 2
    return 0 if item.get_closest_marker("heavy") else 1


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    with _quiet(item.config.stash[LOCKS], item.get_closest_marker("alone") is not None):
        return (yield)


@contextmanager
def _quiet(folder: Path, alone: bool) -> Iterator[None]:
    """Tests hold a shared lock; one that is marked `alone` holds it exclusively.

    Every test takes the queue lock first, and a test that waits for the exclusive lock keeps it:
    otherwise the tests of other processes would take the shared lock again and again before it.
    """
    with (folder / "queue").open("a") as queue, (folder / "running").open("a") as running:
        fcntl.flock(queue, fcntl.LOCK_EX)
        fcntl.flock(running, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(queue, fcntl.LOCK_UN)
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """A test that hangs fails after its limit, with the line where it hung."""
    marker = item.get_closest_marker("limit")
    limit_s = float(marker.args[0]) if marker else LIMIT_S

    def give_up(*_: object) -> None:
        # No TimeoutError: code that waits with a timeout of its own would catch it.
        pytest.fail(f"still running after {limit_s:g} s; @pytest.mark.limit gives it more")

    before = signal.signal(signal.SIGALRM, give_up)
    # Again every few seconds, because an event loop ignores an exception inside a callback.
    signal.setitimer(signal.ITIMER_REAL, limit_s, 5.0)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test may be a coroutine; each gets an event loop of its own, from `loop_factory` where it
    uses that fixture."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    expected = inspect.signature(pyfuncitem.obj).parameters
    factory: Any = pyfuncitem.funcargs.get("loop_factory")
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in expected}))
        runner.run(_close_transports())
    return True


async def _close_transports() -> None:
    """A transport that the test closed last is released in the next iteration of the loop, and one
    that it left open is aborted; otherwise the warning would fail whatever test runs when it is
    collected."""
    transports: Any = getattr(asyncio.get_running_loop(), "_transports", {})
    for transport in list(transports.values()):
        transport.abort()
    for _ in range(3):
        await asyncio.sleep(0)
