"""Calls that may hang, on threads that nobody waits for."""

import asyncio
import subprocess
import sys
import threading

import pytest

from belvedere.agent.isolation import run_detached


async def test_a_detached_call_returns_its_result_or_error() -> None:
    assert await run_detached(int, "7") == 7
    with pytest.raises(ValueError, match="invalid literal"):
        await run_detached(int, "seven")
    with pytest.raises(RuntimeError, match="StopIteration"):
        await run_detached(next, iter([]))


async def test_a_call_that_hangs_can_be_abandoned() -> None:
    go_on = threading.Event()
    begun = threading.Event()

    def hang() -> None:
        begun.set()
        go_on.wait()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await run_detached(hang)
    assert begun.wait(10)
    # Others do not wait, however many hang.
    hanging = [asyncio.create_task(run_detached(hang)) for _ in range(40)]
    assert await run_detached(int, "7") == 7
    go_on.set()
    await asyncio.gather(*hanging)


def test_a_program_ends_while_one_hangs() -> None:
    program = (
        "import asyncio, threading\n"
        "from belvedere.agent.isolation import run_detached\n"
        "begun = threading.Event()\n"
        "def hang():\n"
        "    begun.set()\n"
        "    threading.Event().wait()\n"
        "async def main():\n"
        "    asyncio.ensure_future(run_detached(hang))\n"
        "    await asyncio.to_thread(begun.wait)\n"
        "asyncio.run(main())\n"
        "print('over')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "over\n", "")
