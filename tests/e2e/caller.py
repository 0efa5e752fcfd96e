"""A client that keeps sending requests while processes are killed, and records the responses."""

import random
import threading
from collections import deque
from dataclasses import dataclass

from belvedere.client.errors import Problem
from belvedere.client.http_client import ApiResponse, Client
from e2e.world import FINAL

PAUSE_S = 0.03
AWAY_S = 0.05
# With this number of open jobs it sends requests more slowly, so that no queue builds up that would
# take longer to empty than the test lasts.
MANY, SLOWLY_S = 30, 0.3
CODES = (0, 0, 0, 1, 3, 42)
PAUSES = ("0", "0", "0.05", "0.2", "0.5")
LINES = (0, 1, 1, 10, 2_000, 20_000)


@dataclass
class JobAttempt:
    """One requested job: its key, its arguments, and what happened to it."""

    key: str
    task_id: str
    retries: int
    code: int
    pause: str
    lines: int
    job_id: str = ""
    wants_cancel: bool = False


class Caller(threading.Thread):
    """Creates jobs with idempotency keys until it is stopped; repeats every request that was not
    answered."""

    def __init__(self, client: Client, ledger: str, tasks: dict[str, int], seed: int) -> None:
        super().__init__(daemon=True)
        self._client = client
        self._ledger = ledger
        # How often each may be repeated, by id.
        self._tasks = tasks
        self._random = random.Random(seed)
        self._stop_asking = threading.Event()
        self._mark = f"{seed:x}"
        self._open: deque[str] = deque()
        self.asked: list[JobAttempt] = []
        self.replays = 0
        self.fault: BaseException | None = None

    def run(self) -> None:
        try:
            while not self._stop_asking.wait(self._pause_s()):
                self._request(self._new())
        except BaseException as fault:
            self.fault = fault
        finally:
            self._client.close()

    def finish(self) -> list[JobAttempt]:
        """Wait for the response to the last request; all requests."""
        self._stop_asking.set()
        self.join(60)
        assert not self.is_alive(), "a question was never answered"
        if self.fault is not None:
            raise self.fault
        return self.asked

    def _pause_s(self) -> float:
        while self._open and self._is_over(self._open[0]):
            self._open.popleft()
        return PAUSE_S if len(self._open) < MANY else SLOWLY_S

    def _is_over(self, job_id: str) -> bool:
        try:
            return self._client.get(f"/job/{job_id}/lifecycle") in FINAL
        except Problem:
            return False

    def _new(self) -> JobAttempt:
        pick = self._random.choice
        key = f"{self._mark}-{len(self.asked)}"
        task_id, retries = pick(list(self._tasks.items()))
        job_attempt = JobAttempt(key, task_id, retries, pick(CODES), pick(PAUSES), pick(LINES))
        self.asked.append(job_attempt)
        return job_attempt

    def _request(self, expected: JobAttempt) -> None:
        expected.job_id = self._create(expected)
        self._open.append(expected.job_id)
        chance = self._random.random()
        if chance < 0.1:
            assert self._create(expected) == expected.job_id, "one key made two jobs"
        elif chance < 0.2:
            expected.wants_cancel = True
            self._until_answered("PUT", f"/job/{expected.job_id}/cancel", None, (409,))

    def _create(self, expected: JobAttempt) -> str:
        arguments = [self._ledger, str(expected.code), expected.pause, str(expected.lines)]
        body = {"task": expected.task_id, "task_arguments": arguments}
        answer = self._until_answered("POST", "/job", body, key=expected.key)
        assert answer is not None
        self.replays += answer.headers.get("idempotency-replayed") == "true"
        job_id: str = answer.body["id"]
        return job_id

    def _until_answered(
        self, method: str, path: str, body: object, fine: tuple[int, ...] = (), key: str = ""
    ) -> ApiResponse | None:
        headers = {"Idempotency-Key": key} if key else {}
        while True:
            try:
                return self._client.request(method, path, body, headers=headers)
            except Problem as refusal:
                if refusal.status in fine:
                    return None
                if 0 < refusal.status < 500:
                    raise
            self._stop_asking.wait(AWAY_S)
