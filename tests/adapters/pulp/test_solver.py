from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pulp
import pytest

import gpu_bridge as gb
from gpu_bridge.adapters.pulp import GPUHEUR, register
from gpu_bridge.options import option_table
from solvers.core.errors import DeviceError, FileFormatError, OptionError
from solvers.core.outcome import SolutionStatus
from tests.adapters.pulp.models import small, solve, solver, values
from tests.cases import through


def test_pulp_finds_the_solver() -> None:
    assert isinstance(pulp.getSolver("GPUHEUR", msg=False), GPUHEUR)
    assert "GPUHEUR" in pulp.listSolvers(onlyAvailable=True)
    assert gb.GPUHEUR is GPUHEUR


def test_registering_twice_changes_nothing() -> None:
    before = list(pulp.apis._all_solvers)
    register()
    assert pulp.apis._all_solvers == before
    assert sum(known.name == "GPUHEUR" for known in before) == 1


@pytest.mark.parametrize(
    "imports",
    [
        "import gpu_bridge, pulp",
        "import pulp, gpu_bridge",
        "import gpu_bridge.adapters.pulp, pulp",
        "import pulp, gpu_bridge.adapters.pulp, gpu_bridge",
        "from gpu_bridge import GPUHEUR; import pulp",
    ],
)
def test_any_order_of_imports_registers_once_and_loads_no_engine(imports: str) -> None:
    program = (
        f"{imports}\nimport sys\n"
        "names = [s.name for s in pulp.apis._all_solvers]\n"
        "assert names.count('GPUHEUR') == 1, names\n"
        "solver = pulp.getSolver('GPUHEUR', msg=False)\n"
        "assert solver.available()\n"
        "loaded = {'cupy', 'gpu_bridge.pipeline.dispatch', 'solvers.highs'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)


def test_settings_survive_every_round_trip(tmp_path: Path) -> None:
    first = GPUHEUR(
        mip=False,
        msg=False,
        timeLimit=20,
        gapRel=0.1,
        gapAbs=0.5,
        threads=1,
        warmStart=True,
        logPath="solve.log",
        method="highs",
        options=["presolve=false"],
    )
    first.toJson(str(tmp_path / "solver.json"))
    others = (
        first.copy(),
        pulp.getSolverFromDict(first.toDict()),
        pulp.getSolverFromJson(str(tmp_path / "solver.json")),
    )
    for other in others:
        assert isinstance(other, GPUHEUR)
        assert other.toDict() == first.toDict()
        assert other._settings() == first._settings()
    options, warm_start = first._settings()
    assert warm_start
    assert (options.relax, options.log, options.time_limit) == (True, False, 20.0)
    assert (options.rel_gap, options.abs_gap, options.threads) == (0.1, 0.5, 1)
    assert (options.log_file, options.method, options.presolve) == ("solve.log", "highs", False)


def test_options_may_be_one_text() -> None:
    one = GPUHEUR(msg=False, options="sec 10")
    assert one.copy()._settings()[0].time_limit == 10.0


@through("row", option_table())
def test_every_option_of_the_table_is_a_keyword(row: Any) -> None:
    options, _ = GPUHEUR(msg=False, **{row.name: row.default})._settings()
    assert getattr(options, row.name) == row.default


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("timelimits", "time_limit"),
        ("gap_rell", "rel_gap"),
        ("methd", "method"),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(OptionError, match=rf"'{name}'; did you mean '{nearest}"):
        GPUHEUR(**{name: 1})


@through(
    "wrong",
    [
        {"timeLimit": "soon"},
        {"timeLimit": -1},
        {"threads": 1.5},
        {"gapRel": -0.1},
        {"warmStart": "yes"},
        {"method": "simplx"},
        {"timeLimit": 3, "time_limit": 4},
        {"options": ["fast"]},
        {"options": ["threads=many"]},
        {"options": ["fast=yes"]},
    ],
)
def test_values_that_do_not_fit_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        GPUHEUR(**wrong)


def test_options_set_later_count_and_are_checked() -> None:
    mine = solver()
    mine.timeLimit = 0
    lp = small()
    assert solve(lp, mine) is SolutionStatus.NOTHING
    mine.timeLimit = None
    mine.optionsDict["gapRell"] = 0.1
    with pytest.raises(OptionError, match="gapRel"):
        lp.solve(mine)


@pytest.mark.parametrize("wrong", [True, np.array([1, 2]), [1]])
def test_a_wrong_value_is_refused_after_one_that_equals_it(wrong: object) -> None:
    mine = solver(seed=1)
    lp = small()
    lp.solve(mine)
    with pytest.raises(OptionError, match="seed"):
        lp.solve(mine, seed=wrong)


def test_options_of_one_call_do_not_stick() -> None:
    mine = solver()
    lp = small()
    assert solve(lp, mine, timeLimit=0) is SolutionStatus.NOTHING
    assert solve(lp, mine) is SolutionStatus.OPTIMAL


def test_silent_without_msg(capfd: pytest.CaptureFixture[str]) -> None:
    small().solve(solver())
    assert capfd.readouterr() == ("", "")


def test_msg_prints_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    lp = small()
    lp.solve(solver(msg=True))
    shown = capfd.readouterr()
    assert shown.err == ""
    assert shown.out == lp.solverModel.outcome.log
    assert "Status" in shown.out


def test_the_log_file(tmp_path: Path) -> None:
    path = tmp_path / "solve.log"
    lp = small()
    lp.solve(solver(logPath=str(path)))
    assert path.read_text() == lp.solverModel.outcome.log != ""
    with pytest.raises(FileFormatError, match="folder"):
        lp.solve(solver(logPath=str(tmp_path / "folder" / "solve.log")))


def test_a_warm_start_may_be_partial() -> None:
    lp = small()
    lp.variablesDict()["y"].cat = "Integer"
    mine = solver(warmStart=True)
    assert solve(lp, mine) is SolutionStatus.OPTIMAL
    assert lp.solverModel.start is None  # no variable had a value
    lp = small()
    lp.variablesDict()["y"].cat = "Integer"
    lp.variablesDict()["x"].setInitialValue(2)
    assert solve(lp, mine) is SolutionStatus.OPTIMAL
    start = lp.solverModel.start.x
    names = lp.solverModel.arrays.column_names
    assert start[names.index("x")] == 2
    assert start[names.index("y")] != start[names.index("y")]
    assert values(lp) == pytest.approx({"x": 4, "y": -1, "z": 6})


def test_a_gpu_where_there_is_none() -> None:
    from solvers.core.device import list_devices

    if any(device.kind == "cuda" for device in list_devices()):
        pytest.skip("there is a GPU here")
    lp = small()
    with pytest.raises(DeviceError, match="cuda"):
        lp.solve(solver(device="cuda"))
    assert set(values(lp).values()) == {None}
