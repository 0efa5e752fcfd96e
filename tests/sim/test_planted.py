"""Faults planted into the product: each must be detected, or the simulator proves nothing."""

from collections.abc import Callable
from unittest import mock

import pytest

from sim import patches, planted_faults, scenario
from sim.swarm import FaultRates

# The rarest faults show in one story of seventy.
MOST_SEEDS = 600
LEAST_FAULTS = 30


FAULTS = (
    planted_faults.a_full_disk_fails_the_job,
    planted_faults.any_journal_is_evidence,
    planted_faults.a_missing_fence_was_never_accepted,
    planted_faults.any_fence_ends_a_job,
    planted_faults.lost_jobs_run_again,
    planted_faults.keys_are_forgotten,
    planted_faults.ends_are_told_once,
    planted_faults.nothing_is_journalled,
    planted_faults.cancel_is_taken_for_certain,
    planted_faults.changes_leave_no_event,
    planted_faults.retries_have_no_limit,
    planted_faults.only_signals_start_jobs,
    planted_faults.jobs_expire_early,
    planted_faults.a_lost_job_did_not_run,
    planted_faults.exit_codes_are_ignored,
    planted_faults.a_missing_fence_proves_nothing,
    planted_faults.a_new_keeper_knows_its_scripts,
    planted_faults.ends_are_forgotten_before_they_are_acknowledged,
    planted_faults.output_resumes_too_late,
    planted_faults.an_old_heartbeat_closes_the_new_connection,
)


# They show only after a restore, which few stories draw.
RESTORE_FAULTS = (
    planted_faults.a_restore_holds_nothing,
    planted_faults.a_restored_database_is_not_noticed,
    planted_faults.any_journal_releases_held_jobs,
    planted_faults.a_lost_end_is_not_noticed,
    planted_faults.a_restore_does_not_raise_the_epoch,
)
ROLLBACKS = FaultRates(rollbacks=3, agent_kills=2, reboots=2, lag=0.3)
UPGRADE_FAULTS = (
    planted_faults.a_migration_is_only_recorded,
    planted_faults.agents_of_an_earlier_version_are_refused,
)
RESTORES = FaultRates(
    restores=2, agent_pauses=3, lag=0.6, dies_after_commit=0.03, server_pauses=2, keeper_kills=2
)
# They show only when a script writes more than a report carries while its host's disk is full.
OUTPUT_FAULTS = (
    planted_faults.a_log_without_its_end_is_complete,
    planted_faults.dropped_output_has_no_marker,
    planted_faults.a_dropped_end_has_no_marker,
    planted_faults.dropped_output_closes_up,
)
FULL_DISKS = FaultRates(full_disks=8)
UPGRADES = FaultRates(upgrades=2, server_kills=2, agent_kills=2)
# It shows only when the clock jumps while jobs wait, and a server runs that notices it.
JUMPS = FaultRates(clock_jumps=6, partitions=4, agent_kills=4, keeper_kills=2, lag=0.3)
CASES: list[tuple[Callable[[], planted_faults.Patch], FaultRates | None]] = [
    *((fault, None) for fault in FAULTS),
    *((fault, RESTORES) for fault in RESTORE_FAULTS),
    (planted_faults.a_rolled_back_journal_is_kept, ROLLBACKS),
    *((fault, UPGRADES) for fault in UPGRADE_FAULTS),
    *((fault, FULL_DISKS) for fault in OUTPUT_FAULTS),
    (planted_faults.deadlines_follow_the_wall_clock, JUMPS),
]
# The first story that shows the fault. It is tried before all others, which saves running those
# before it; after a change that makes the fault show elsewhere, the search finds it there.
FIRST_SEEDS: dict[Callable[[], planted_faults.Patch], int] = {
    planted_faults.any_journal_is_evidence: 55,
    planted_faults.a_missing_fence_was_never_accepted: 55,
    planted_faults.any_fence_ends_a_job: 10,
    planted_faults.keys_are_forgotten: 8,
    planted_faults.jobs_expire_early: 9,
    planted_faults.a_full_disk_fails_the_job: 6,
    planted_faults.nothing_is_journalled: 6,
    planted_faults.a_restore_holds_nothing: 31,
    planted_faults.a_restored_database_is_not_noticed: 18,
    planted_faults.any_journal_releases_held_jobs: 157,
    planted_faults.a_lost_end_is_not_noticed: 659,
    planted_faults.a_restore_does_not_raise_the_epoch: 6,
    planted_faults.a_rolled_back_journal_is_kept: 77,
    planted_faults.agents_of_an_earlier_version_are_refused: 12,
    planted_faults.dropped_output_closes_up: 1045,
}


def test_enough_faults_are_planted() -> None:
    assert len({fault for fault, _ in CASES}) >= LEAST_FAULTS


@pytest.mark.limit(180)
@pytest.mark.parametrize(("fault", "swarm"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_a_planted_fault_is_caught(
    fault: Callable[[], planted_faults.Patch], swarm: FaultRates | None
) -> None:
    where, name, planted = fault()
    with patches.install(), mock.patch.object(where, name, planted):
        seeds = (FIRST_SEEDS.get(fault, 0), *range(MOST_SEEDS))
        caught = next((seed for seed in seeds if _breaks(seed, swarm)), None)
    assert caught is not None, f"{fault.__name__} went unnoticed in {MOST_SEEDS} stories"


@pytest.mark.limit(120)
def test_no_deadline_follows_a_clock_that_jumps() -> None:
    """The same stories without the fault."""
    with patches.install():
        for seed in range(10):
            assert scenario.run_seed(seed, JUMPS).violations == []


@pytest.mark.limit(120)
def test_dropped_output_is_marked() -> None:
    """Stories with full disks, without a planted fault."""
    with patches.install():
        worlds = [scenario.run_seed(seed, FULL_DISKS) for seed in range(40)]
    assert [line for world in worlds for line in world.violations] == []
    assert sum(world.counts.get("output_dropped", 0) for world in worlds) >= 3


def _breaks(seed: int, swarm: FaultRates | None) -> bool:
    """Only an invariant counts. A fault that ends the simulation with an exception fails the test:
    it would hide that no invariant covers it."""
    return bool(scenario.run_seed(seed, swarm).violations)
