"""The agent inside the server: how its failures are handled. tests/e2e/test_up.py has the other
tests."""

import asyncio
from typing import Any

import pytest

from belvedere.server.agents import local_agent


async def test_an_internal_error_is_logged_and_retried(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tries: asyncio.Queue[Any] = asyncio.Queue()

    async def fail(app: Any) -> None:
        await tries.put(app)
        raise ZeroDivisionError("our own")

    monkeypatch.setattr(local_agent, "_run", fail)
    monkeypatch.setattr(local_agent, "BACK_OFF_S", (0.0,))
    monkeypatch.setattr("os.umask", lambda _: 0)
    app: Any = object()
    task = asyncio.create_task(local_agent.keep_running(app))
    async with asyncio.timeout(10):
        assert [await tries.get() for _ in range(3)] == [app] * 3
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert caplog.text.count("ZeroDivisionError: our own") >= 2


async def test_a_fault_on_the_way_out_is_no_reason_to_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun = asyncio.Event()

    async def stubborn(app: Any) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise RuntimeError("the keeper is gone")

    monkeypatch.setattr(local_agent, "_run", stubborn)
    monkeypatch.setattr("os.umask", lambda _: 0)
    app: Any = object()
    task = asyncio.create_task(local_agent.keep_running(app))
    async with asyncio.timeout(10):
        await begun.wait()
        task.cancel()
        await asyncio.wait([task])
    assert isinstance(task.exception(), RuntimeError)
