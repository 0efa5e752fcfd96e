import sys; sys.path.insert(0,'/tmp')
import pytest
import test_machine_probe as mp
from hypothesis.stateful import run_state_machine_as_test
from hypothesis import settings, HealthCheck
from belvedere.jobs import reunion, store, finish, sweep
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_probe(shop):
    run_state_machine_as_test(lambda: mp.P(shop), settings=settings(max_examples=120, stateful_step_count=50, suppress_health_check=list(HealthCheck), deadline=None))
    print(mp.C)
    assert 0
PL=[(reunion,"_still_there",lambda tx,job:None),(finish,"_counts",lambda j,a: j.lifecycle=="assigned" or j.is_lost),(sweep,"SILENT_AGENT",0),(store,"end_attempt",lambda *a:None)]
@pytest.mark.parametrize("n", range(len(PL)))
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_plant(shop, monkeypatch,n):
    monkeypatch.setattr(*PL[n])
    mp.tm.run(shop, 120, 50)
