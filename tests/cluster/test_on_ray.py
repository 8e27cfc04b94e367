"""Two simulated nodes of Ray on this machine: what comes back, and what happens in trouble.

All tests share one cluster, which takes longer to start than they take.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pulp
import pyomo.environ as pyo
import pytest

import gpu_bridge as gb
from gpu_bridge.cluster import connection as calls_module
from gpu_bridge.cluster.chunks import Chunks, WorkerKind
from gpu_bridge.cluster.connection import Calls, WorkerLostError, join
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.problem import Problem
from tests.cluster.work import DEADLY, square
from tests.locations import ROOT

ray = pytest.importorskip("ray")

pytestmark = pytest.mark.slow

OPTIMAL = SolutionStatus.OPTIMAL


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 100 * 2**20}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_AUTH_MODE", "disabled")  # nothing is written at home
        made = Cluster(initialize_head=True, head_node_args=node | {"include_dashboard": False})
        made.add_node(**node)
        made.wait_for_nodes(timeout=120)
        ray.init(address=made.address, log_to_driver=False)
        yield made
        ray.shutdown()
        made.shutdown()


def model(k: int) -> Problem:
    """Return the k-th of small models, every other of whole numbers."""
    return Problem.from_arrays(
        [2.0, 3.0],
        [[1.0, 1.0], [1.0, -1.0]],
        [k + 0.5, -np.inf],
        [np.inf, 1.0],
        integrality=bool(k % 2),
        name=f"m{k}",
    )


def optimum(k: int) -> float:
    """Return its optimum: x - y is at most 1, and at least so much is needed in all."""
    if k % 2 == 0:
        y = max(0.0, (k - 0.5) / 2)
        return 2 * (k + 0.5 - y) + 3 * y
    total = math.ceil(k + 0.5)
    y = math.ceil((total - 1) / 2)
    return 2 * (total - y) + 3 * y


def test_a_thousand_models_are_right_and_in_order_though_a_node_is_killed(cluster):
    told: list[int] = []
    victim = cluster.list_all_nodes()[-1]

    def tell(number: int, outcome: gb.Outcome) -> None:
        told.append(number)
        if number == 300:
            cluster.remove_node(victim, allow_graceful=False)

    count = 1000
    problems = [model(k) for k in range(count)]
    outcomes = gb.solve_many(problems, cluster=cluster.address, on_outcome=tell)
    cluster.add_node(num_cpus=1, object_store_memory=100 * 2**20)
    assert told == list(range(count))
    assert set(outcomes.statuses) == {OPTIMAL}
    np.testing.assert_allclose(outcomes.objectives, [optimum(k) for k in range(count)], rtol=1e-9)
    assert [outcomes[k].problem is problems[k] for k in (0, 500, 999)] == [True] * 3


def test_a_batch_is_that_of_one_machine(cluster):
    base = Problem.from_arrays([2.0, 3.0], [[1.0, 1.0], [1.0, -1.0]], [1.0, -np.inf], [np.inf, 1.0])
    needed = np.stack([np.arange(200.0), np.full(200, -np.inf)], axis=1)
    batch = gb.Batch(base, row_lower=needed)
    here, there = gb.solve_many(batch), gb.solve_many(batch, cluster="auto")
    np.testing.assert_allclose(there.objectives, here.objectives)
    np.testing.assert_allclose(there.x, here.x)
    assert there[7].problem.row_lower[0] == 7.0


def test_who_is_told_may_end_it(cluster):
    outcomes = gb.solve_many(
        [model(k) for k in range(400)], cluster="auto", on_outcome=lambda number, _: number == 3
    )
    reasons = [outcome.stop_reason for outcome in outcomes]
    assert reasons[:4] == [StopReason.CONVERGED] * 4
    assert reasons[-1] is StopReason.INTERRUPTED


def test_what_ends_its_workers_is_told_apart(cluster, monkeypatch):
    monkeypatch.setattr(calls_module, "RETRIES", 0)
    calls = Calls(join("auto"))
    kind = WorkerKind("cpu", 1, 1, 0, 8)
    begin = lambda members, kind: calls.begin(square, members, cpus=1)  # noqa: E731
    found = dict(Chunks(range(8), calls, lambda: [kind], begin, lambda: False).results())
    lost = found.pop(DEADLY)
    assert isinstance(lost, WorkerLostError)
    assert found == {k: k * k for k in range(8) if k != DEADLY}


def test_another_version_is_refused_with_both(cluster, monkeypatch):
    monkeypatch.setattr(gb, "__version__", "9.9.9")
    with pytest.raises(gb.ClusterError, match=r"has gpu-bridge \d.*this process has 9\.9\.9"):
        gb.solve_many([model(1)], cluster="auto")
    with pytest.raises(gb.ClusterError, match=r"this process has 9\.9\.9"):
        gb.solve(covering(), method="mip", cluster="auto")


def test_a_model_that_cannot_be_sent_is_named(cluster):
    broken = model(2)
    object.__setattr__(broken, "cost", np.array([(k for k in ()), 1.0], dtype=object))
    with pytest.raises(gb.ProblemError, match=r"Model 1 .'m2'. cannot be sent to the cluster"):
        gb.solve_many([model(0), broken, model(4)], cluster="auto")


def test_a_gpu_that_no_node_has_is_refused(cluster):
    with pytest.raises(gb.DeviceError, match=r"the cluster has no GPU: \d nodes?,"):
        gb.solve_many([model(1)], cluster="auto", device="cuda")


def test_a_process_is_in_one_cluster(cluster):
    with pytest.raises(gb.ClusterError, match=f"has joined the Ray cluster {cluster.address}"):
        gb.solve_many([model(1)], cluster="10.0.0.1:6379")


def covering(seed: int = 0, rows: int = 40, columns: int = 60) -> Problem:
    """Return a covering problem, whose relaxation leaves much undecided."""
    generator = np.random.default_rng(seed)
    A = (generator.random((rows, columns)) < 0.12).astype(float)
    A[np.arange(rows), generator.integers(0, columns, rows)] = 1.0
    cost = generator.integers(5, 30, columns).astype(float)
    return Problem.from_arrays(cost, A, np.ones(rows), upper=1.0, integrality=True, name="cover")


def test_members_of_a_portfolio_prove_what_one_machine_does(cluster):
    problem = covering()
    here = gb.solve(problem, method="mip", rel_gap=0.0)
    points: list[float] = []
    there = gb.solve(
        problem,
        method="mip",
        rel_gap=0.0,
        cluster="auto",
        on_solution=lambda found: points.append(found.objective),
    )
    assert there.solution_status is OPTIMAL
    assert there.objective == pytest.approx(here.objective)
    assert there.bound == pytest.approx(here.bound)
    assert points[-1] == pytest.approx(here.objective)
    assert "mip on a cluster" in there.log
    assert "for all of it" in there.log


def test_parts_of_a_model_prove_it_together(cluster, monkeypatch):
    """Nobody has the whole model here, so that the proof is that of the parts."""
    from gpu_bridge.pipeline.routes import cluster as route
    from gpu_bridge.pipeline.routes.cluster_members import Member, Seat

    parts = [Member(f"leaf {k}", Seat(1, 0), k, leaf=k) for k in range(2)]
    monkeypatch.setattr(route, "line_up", lambda seats, options: parts)
    problem = covering(1)
    here = gb.solve(problem, method="mip", rel_gap=0.0)
    there = gb.solve(problem, method="mip", rel_gap=0.0, cluster="auto")
    assert (there.solution_status, there.objective) == (OPTIMAL, pytest.approx(here.objective))
    impossible = Problem.from_arrays(
        np.zeros(3), [[2.0, 2.0, 2.0]], [3.0], [3.0], upper=1.0, integrality=True
    )
    none = gb.solve(impossible, method="mip", presolve=False, cluster="auto", explain=False)
    assert none.solution_status is SolutionStatus.INFEASIBLE


def test_a_limit_ends_all_members_with_what_they_have(cluster):
    problem = covering(2, 400, 600)
    start = gb.Start(x=np.ones(600))
    outcome = gb.solve(problem, start=start, rel_gap=0.0, cluster="auto", time_limit=4.0)
    assert outcome.solution_status.has_point
    assert outcome.objective <= problem.objective_at(np.ones(600))
    assert "The start is feasible and was taken." in outcome.log
    assert outcome.stop_reason is StopReason.TIME_LIMIT or outcome.solution_status is OPTIMAL


def test_what_cannot_be_repeated_is_refused(cluster):
    with pytest.raises(gb.OptionError, match="deterministic=True does not go with cluster='auto'"):
        gb.solve(covering(), cluster="auto", deterministic=True)


def test_pyomo_and_pulp_take_the_option(cluster):
    plan = pyo.ConcreteModel()
    plan.x = pyo.Var(range(2), domain=pyo.NonNegativeIntegers, bounds=(0, 9))
    plan.need = pyo.Param(initialize=3.0, mutable=True)
    plan.cost = pyo.Objective(expr=2 * plan.x[0] + 3 * plan.x[1])
    plan.all = pyo.Constraint(expr=plan.x[0] + plan.x[1] >= plan.need)
    plan.even = pyo.Constraint(expr=plan.x[0] - plan.x[1] <= 1)
    pyo.SolverFactory("gpuheur").solve(plan, options={"cluster": "auto", "method": "mip"})
    assert pyo.value(plan.cost) == pytest.approx(7.0)
    table = gb.solve_table(plan, {"need": [3.0, 5.0, 7.0]}, cluster="auto")
    np.testing.assert_allclose(table.objective, [7.0, 12.0, 17.0])
    lp = pulp.LpProblem("plan")
    x = [lp.add_variable(f"x{j}", 0, 9, "Integer") for j in range(2)]
    lp += 2 * x[0] + 3 * x[1]
    lp += (x[0] + x[1] >= 3), "need"
    lp.solve(gb.GPUHEUR(msg=False, cluster="auto", method="mip"))
    assert pulp.value(lp.objective) == pytest.approx(6.0)
    table = gb.solve_table(lp, {"need.rhs": [3.0, 5.0]}, cluster="auto")
    np.testing.assert_allclose(table.objective, [6.0, 10.0])


MPS = """NAME m{0}
ROWS
 N cost
 G need
COLUMNS
 x cost 2
 x need 1
RHS
 RHS need {0}
ENDATA
"""


def test_the_command_line_shows_a_line_for_each_model(cluster, tmp_path, capsys):
    from gpu_bridge.cli import main

    paths = [str(tmp_path / f"m{k}.mps") for k in range(1, 4)]
    for k, path in enumerate(paths, start=1):
        Path(path).write_text(MPS.format(k), encoding="utf-8")
    table = tmp_path / "answers.csv"
    given = ["--quiet", "--solutions", str(tmp_path), "--table", str(table)]
    words = ["cluster-run", *paths, *given, "--cluster", cluster.address]
    done = subprocess.run(
        [sys.executable, "-m", "gpu_bridge", *words], capture_output=True, text=True, check=True
    )
    # Ray may tell between the lines of the node that an earlier test has killed.
    lines = [line.split() for line in done.stdout.splitlines() if line.endswith(".mps")]
    assert [line[:2] for line in lines] == [["optimal", str(2 * k)] for k in (1, 2, 3)]
    assert [line[-1] for line in lines] == paths
    assert table.read_text("utf-8").count("optimal,converged") == 3
    assert "x 2" in (tmp_path / "m2.sol").read_text("utf-8")
    assert main(["cluster-run", paths[0], "--quiet"]) == 0
    assert main(["cluster-run", *paths, "--table", paths[1]]) == 64
    assert "answers" not in capsys.readouterr().out


DRIVER = """
import sys, numpy as np, gpu_bridge as gb
from tests.cluster.test_on_ray import covering
problems = [covering(k, 400, 600) for k in range(8)]
print("begun", flush=True)
gb.solve_many(problems, cluster=sys.argv[1], rel_gap=0.0, method="mip")
"""


def workers_at_work() -> set[int]:
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().startswith(b"ray::call"):
                found.add(int(path.parent.name))
        except OSError:
            continue
    return found


def wait_for(condition: Any, seconds: float = 60.0) -> bool:
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.1)
    return bool(condition())


def test_the_work_of_a_driver_that_goes_away_ends(cluster):
    before = workers_at_work()
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, cluster.address], cwd=ROOT, stdout=subprocess.DEVNULL,
        env=os.environ | {"RAY_LOG_TO_DRIVER": "0"},
    )  # fmt: skip
    try:
        assert wait_for(lambda: workers_at_work() - before)
        of_driver = workers_at_work() - before
    finally:
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    assert wait_for(lambda: not of_driver & workers_at_work())
