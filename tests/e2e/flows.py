"""A person who starts scripts, approvals and workflows and decides approvals while the server is
killed, and records the responses."""

import random
import threading
from dataclasses import dataclass, field
from typing import Any

from belvedere.client.errors import Problem
from belvedere.client.http_client import ApiResponse, Client
from e2e.programs import EMAIL, Agent
from e2e.world import World

PAUSE_S = 0.05
AWAY_S = 0.05
# More than these are not open at once, so that the end of the test does not wait long.
MAX_OPEN = 12
KINDS = ("script", "approval", "sequence", "fan", "gated", "gated")
EDGES = {
    "sequence": ["a-b", "b-c"],
    "fan": ["a-b", "a-c", "a-d", "b-e", "c-e", "d-e"],
    "gated": ["a-ask", "ask-b"],
}
# One line per run, on disk before the script continues; ledger.py describes how it is read.
SCRIPT = """#!/bin/sh
line="$BELVEDERE_JOB_ID $BELVEDERE_FENCE $$"
printf '%s\\n' "$line" | dd of={ledger} oflag=append conv=notrunc,fsync status=none || exit 99
sleep 0.{pause}
"""


@dataclass
class Flow:
    """One run that was started, and the decision about it."""

    kind: str
    key: str
    decision: str
    job_id: str = ""
    # The job that asks for approval, once it was seen.
    vote_id: str = ""
    # Whether the decision was answered with 2xx; None: not decided yet.
    answered: bool | None = None


@dataclass
class WorkflowTasks:
    """The tasks and workflows of an installation."""

    tasks: dict[str, str] = field(default_factory=dict)
    workflows: dict[str, str] = field(default_factory=dict)

    @classmethod
    def build(cls, world: World, agent: Agent) -> "WorkflowTasks":
        ledger = world.folder / "ledger"
        ledger.touch()
        workflow_tasks = cls()
        for name in "abcde":
            source = SCRIPT.format(ledger=ledger, pause=random.Random(name).randrange(1, 4))
            workflow_tasks.tasks[name] = world.task(source, agent)
        body = {"name": "ask", "type": "approval", "approvers": [EMAIL]}
        workflow_tasks.tasks["ask"] = world.api.post("/task", body)["id"]
        for kind, edges in EDGES.items():
            workflow_tasks.workflows[kind] = _workflow(world, kind, edges, workflow_tasks.tasks)
        return workflow_tasks


def _workflow(world: World, kind: str, edges: list[str], tasks: dict[str, str]) -> str:
    names = sorted({name for edge in edges for name in edge.split("-")})
    ends = [edge.split("-") for edge in edges]
    graph: dict[str, Any] = {
        "nodes": [{"id": name, "task_id": tasks[name], "join": "all"} for name in names],
        "edges": [{"source": source, "target": target} for source, target in ends],
    }
    body = {"name": kind, "start": "a", "graph": graph, "multitasking": True}
    response: str = world.api.post("/workflows", body)["id"]
    return response


class Person(threading.Thread):
    """Works until `finish`; repeats every request that was not answered."""

    def __init__(self, client: Client, plant: WorkflowTasks, seed: int) -> None:
        super().__init__(daemon=True)
        self._client = client
        self._plant = plant
        self._dice = random.Random(seed)
        self._seed = seed
        self._stop_starting = threading.Event()
        self.flows: list[Flow] = []
        self.fault: BaseException | None = None

    def run(self) -> None:
        try:
            while not self._stop_starting.wait(PAUSE_S):
                self._work()
            while self._open_flows():
                self._decide_all()
                self._stop_starting.wait(AWAY_S)
        except BaseException as fault:
            self.fault = fault
        finally:
            self._client.close()

    def finish(self) -> list[Flow]:
        """Wait until everything is decided; all runs. The server must not be stopped."""
        self._stop_starting.set()
        self.join(60)
        assert not self.is_alive(), f"not decided: {self._open_flows()}"
        if self.fault is not None:
            raise self.fault
        return self.flows

    def _work(self) -> None:
        if len(self._open_flows()) < MAX_OPEN:
            self._start(self._new())
        self._decide_all()

    def _new(self) -> Flow:
        decision = self._dice.choice(("approve", "approve", "reject"))
        flow = Flow(self._dice.choice(KINDS), f"{self._seed:x}-{len(self.flows)}", decision)
        if flow.kind not in ("approval", "gated"):
            flow.answered = False
        self.flows.append(flow)
        return flow

    def _start(self, flow: Flow) -> None:
        if flow.kind in EDGES:
            path, body = f"/workflows/{self._plant.workflows[flow.kind]}/job", None
        else:
            task = self._plant.tasks["a" if flow.kind == "script" else "ask"]
            path, body = "/job", {"task": task, "task_arguments": []}
        flow.job_id = self._until_answered("POST", path, body or [], key=flow.key).body["id"]
        flow.vote_id = flow.job_id if flow.kind == "approval" else ""

    def _open_flows(self) -> list[Flow]:
        return [flow for flow in self.flows if flow.answered is None]

    def _decide_all(self) -> None:
        for flow in self._open_flows():
            if not flow.vote_id:
                flow.vote_id = self._asking(flow)
            if flow.vote_id:
                self._decide(flow)

    def _asking(self, flow: Flow) -> str:
        """The step of the workflow that asks, if it has started."""
        flow_id = self._plant.workflows[flow.kind]
        answer = self._until_answered("GET", f"/workflows/{flow_id}/job/{flow.job_id}/steps", None)
        steps = {step["node_id"]: step["job_id"] for step in answer.body}
        if "ask" not in steps and self._is_over(flow):
            # An earlier step was lost.
            flow.answered = False
        return str(steps.get("ask", ""))

    def _is_over(self, flow: Flow) -> bool:
        job = self._until_answered("GET", f"/job/{flow.job_id}", None).body
        return bool(job["lifecycle"] == "finished" or job["waiting_reason"] == "lost")

    def _decide(self, flow: Flow) -> None:
        path = f"/job/{flow.vote_id}/{flow.decision}"
        answer = self._until_answered("PUT", path, None, fine=(409,))
        # 409: an earlier request was processed, and its response was lost.
        flow.answered = answer.status < 300

    def _until_answered(
        self, method: str, path: str, body: object, fine: tuple[int, ...] = (), key: str = ""
    ) -> ApiResponse:
        headers = {"Idempotency-Key": key} if key else {}
        while True:
            try:
                return self._client.request(method, path, body, headers=headers)
            except Problem as refusal:
                if refusal.status in fine:
                    return ApiResponse(refusal.status, {}, None)
                if 0 < refusal.status < 500:
                    raise
            threading.Event().wait(AWAY_S)
