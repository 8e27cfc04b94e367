"""What other solvers call our options: the table, and every place where options are given."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pulp
import pyomo.environ as pyo
import pytest

import gpu_bridge
from gpu_bridge.adapters.pulp.settings import listed_options
from gpu_bridge.cli import main
from gpu_bridge.option_names import ANY, INTERFACES, OTHERS, TABLE, OtherName
from gpu_bridge.option_translation import translate
from gpu_bridge.option_values import Meaning
from gpu_bridge.options import make_options, option_rows
from solvers.core.errors import OptionError
from tests.cases import through
from tests.hook import docs_hook
from tests.locations import ROOT

WITH_OPTION = [row for row in TABLE if row.option is not None]
WITHOUT = [row for row in TABLE if row.option is None]
INTERFACE_NAMES = {name for row in TABLE if row.solver in INTERFACES for name in row.names}


def options(**given: Any) -> dict[str, Any]:
    """Return the options that differ from their defaults."""
    found, plain = vars(make_options(given)), vars(make_options())
    return {k: v for k, v in found.items() if v != plain[k] and k != "notes"}


def test_every_row_names_an_option_or_says_what_to_do() -> None:
    for row in TABLE:
        assert (row.option in option_rows()) if row.option else row.hint
        assert row.harmless == row.harmless & {text.lower() for text in row.harmless}
        assert row.option is None or not row.harmless


def test_no_solver_has_a_name_for_two_options_with_the_same_value() -> None:
    seen: dict[tuple[str, str], list[OtherName]] = {}
    for row in TABLE:
        for name in row.names:
            seen.setdefault((row.solver, name), []).append(row)
    for (_, name), rows in seen.items():
        values = [value for row in rows for value in row.values or row.harmless or ("",)]
        assert len(values) == len(set(values)), name


def test_every_value_of_the_table_is_one_of_ours() -> None:
    for row in WITH_OPTION:
        for their in row.values or ():
            if their != OTHERS:
                meaning = translate(row.names[0], their, option_rows())
                assert isinstance(meaning, Meaning)
                assert (meaning.option, meaning.value) == (row.option, row.translated(their))


@through("row", WITH_OPTION)
def test_every_spelling_is_understood_and_told(row: OtherName) -> None:
    kind = option_rows()[row.option or ""].type
    samples = {"bool": True, "str | None": "a.log", "float": 0.01, "float | None": 0.01}
    value = samples.get(kind, 3) if row.values is None else next(iter(row.values))
    for name in row.names:
        meaning = translate(name, value, option_rows())
        assert isinstance(meaning, Meaning)
        assert meaning.option == row.option
        if name in option_rows() or name in INTERFACE_NAMES:
            continue  # nothing to tell
        assert meaning.note.startswith(f"option {name}")
        assert row.solver in meaning.note
        assert f" is {row.option}" in meaning.note


@through(
    ("given", "expected"),
    [
        ({"TimeLimit": 5}, {"time_limit": 5.0}),
        ({"seconds": "60"}, {"time_limit": 60.0}),
        ({"limits/time": 7}, {"time_limit": 7.0}),
        ({"mip tolerances mipgap": 0.2}, {"rel_gap": 0.2}),
        ({"RATIOGAP": 0.2}, {"rel_gap": 0.2}),
        ({"MIPGapAbs": 0.5}, {"abs_gap": 0.5}),
        ({"presolve": "on"}, {}),
        ({"presolve": "choose"}, {}),
        ({"Presolve": 0}, {"presolve": False}),
        ({"nopresol": True}, {"presolve": False}),
        ({"Method": 2}, {"lp_algorithm": "ipm"}),
        ({"Method": -1}, {}),
        ({"startalg": "barrier", "crossover": "0"}, {"lp_algorithm": "ipm", "crossover": "on"}),
        ({"lpmethod": "4", "solutiontype": "2"}, {"lp_algorithm": "ipm", "crossover": "off"}),
        ({"PoolSearchMode": 2, "PoolSolutions": 3}, {"pool_search": "best", "pool_size": 3}),
        ({"solver": "ipx"}, {"lp_algorithm": "ipm"}),
        ({"Crossover": 0}, {"crossover": "off"}),
        ({"parallel": "off"}, {"threads": 1}),
        ({"parallel": "on"}, {}),
        ({"heuristics": "on"}, {}),
        ({"MIPFocus": 0}, {}),
        ({"NonConvex": 2}, {}),
        ({"display/freq": 100}, {}),
        ({"preprocessing_presolve": "n"}, {"presolve": False}),
        ({"parallel": 1}, {"deterministic": True}),
        ({"OutputFlag": 1, "LogToConsole": 0}, {}),
        ({"OutputFlag": 1, "LogToConsole": 1}, {"log": True}),
        ({"log": 3}, {"log": True}),
        ({"log": "solve.log"}, {"log_file": "solve.log"}),
        ({"LogFile": ""}, {}),
        ({"LogFile": "A.log"}, {"log_file": "A.log"}),
        ({"NodeLimit": math.inf}, {}),
        ({"NodeLimit": 1e100}, {}),
        ({"TimeLimit": math.inf}, {}),
        ({"limits/time": 1e20}, {}),
        ({"limits/nodes": -1}, {}),
        ({"FeasibilityTol": 1e-9, "OptimalityTol": 1e-7}, {"tolerance": 1e-9}),
        ({"BarConvTol": "1"}, {"tolerance": 0.1}),
        ({"mip_feasibility_tolerance": 1}, {"integrality_tolerance": 0.1}),
        ({"ratio": 0.1, "ratioGap": 0.1}, {"rel_gap": 0.1}),
        ({"work_limit": 2}, {"work_limit": 2.0}),
    ],
)
def test_names_and_values(given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert options(**given) == expected


@through(
    ("given", "words"),
    [
        ({"BestObjStop": 1}, "Gurobi's option BestObjStop=1 has no counterpart.*constraint"),
        ({"cutoff": 3}, "CBC's option cutoff=3 has no counterpart.*unknown_options='warn'"),
        ({"WorkLimit": 3}, "Gurobi's option WorkLimit"),
        ({"tm_lim": 5000}, "milliseconds"),
        ({"SolutionLimit": 1}, "on_solution"),
        ({"callbackTuple": print}, "on_solution"),
        ({"maxMemory": 1000}, "ulimit"),
        ({"ranging": "on"}, "HiGHS's option ranging=on"),
        ({"misc/exactsolve": True}, "SCIP's option misc/exactsolve=true.*tolerance"),
        ({"lp": "simplex"}, "There is no option 'lp'"),
        ({"display": 1}, "There is no option 'display'"),
        ({"Method": 7}, "'Method' of Gurobi takes -1, 0, 1"),
        ({"method": 2}, "Option 'method' needs a value of type text"),
        ({"TimeLimit": -1}, "'TimeLimit', time_limit here, must be at least 0"),
        ({"FeasibilityTol": 1e-12}, "'FeasibilityTol', tolerance here, must be 1e-10 to 0.1"),
        ({"tolerance": 1}, "'tolerance' must be 1e-10 to 0.1"),
        ({"MIPGap": "small"}, "'MIPGap', rel_gap here, needs a value of type number"),
        ({"sec": 3, "TimeLimit": 4}, "'sec' and 'TimeLimit' set the same option, 'time_limit'"),
        ({"TimeLimits": 3}, "did you mean 'time_limit'"),
    ],
)
def test_what_does_not_fit_is_refused_in_the_callers_words(
    given: dict[str, Any], words: str
) -> None:
    with pytest.raises(OptionError, match=words):
        make_options(given)


@pytest.mark.parametrize(
    ("name", "value"),
    [("MIPFocus", 1), ("cuts", "off"), ("emphasis_mip", 2), ("heuristics/rins/freq", -2)],
)
def test_what_steers_the_search_of_another_solver_is_ignored_with_a_warning(
    name: str, value: Any
) -> None:
    with pytest.warns(UserWarning, match=name) as heard:
        found = make_options({name: value, "time_limit": 4})
    assert len(heard) == 1
    assert found.time_limit == 4
    assert any(note.startswith("ignored: ") and name in note for note in found.notes)


def test_unknown_names_are_ignored_with_one_warning_on_demand() -> None:
    given = {"WorkLimit": 1, "speed": "high", "TimeLimit": 4}
    with pytest.warns(UserWarning, match=r"WorkLimit=1.*'speed'") as heard:
        found = make_options(given, unknown_options="warn")
    assert len(heard) == 1
    assert found.time_limit == 4
    assert sum(note.startswith("ignored: ") for note in found.notes) == 2
    with pytest.raises(OptionError, match="at least 0"):
        make_options({"TimeLimit": -1}, unknown_options="warn")


def test_of_two_sources_the_later_counts_whatever_names_they_use() -> None:
    found = make_options({"TimeLimit": 100, "seed": 1}, {"sec": 5}, time_limit=None, threads=2)
    assert (found.time_limit, found.seed, found.threads) == (None, 1, 2)
    assert found.notes == ()
    assert make_options({"time_limit": 3}, {"tmlim": 4}).notes == (
        "option tmlim of GLPK is time_limit here",
    )


@through(
    ("words", "expected"),
    [
        (["sec", "10", "ratio", "0.01"], {"sec": "10", "ratio": "0.01"}),
        (["-sec 10"], {"sec": "10"}),
        (["sec 10", "presolve off"], {"sec": "10", "presolve": "off"}),
        (["--tmlim", "10", "--nomip"], {"tmlim": "10", "nomip": ""}),
        (["primalSimplex", "sec", "10"], {"primalSimplex": "", "sec": "10"}),
        (["revised", "ratio 1e-12"], {"revised": "", "ratio": "1e-12"}),
        (["TimeLimit=10"], {"TimeLimit": "10"}),
        (["limits/time = 10"], {"limits/time": " 10"}),
        (["log_file=My Logs/a.log"], {"log_file": "My Logs/a.log"}),
        (["set mip tolerances mipgap 0.1"], {"mip tolerances mipgap": "0.1"}),
        ([("TimeLimit", 10)], {"TimeLimit": 10}),
        (["objective -3"], {"objective": "-3"}),
    ],
)
def test_lists_as_each_of_pulps_solvers_takes_them(
    words: list[Any], expected: dict[str, Any]
) -> None:
    assert dict(listed_options(words)) == expected


@pytest.mark.filterwarnings("error")
def test_glpks_relax_is_another_option_than_ours() -> None:
    lp = pulp.LpProblem("whole", pulp.LpMaximize)
    x = lp.add_variable("x", 0, 10, "Integer")
    lp += x
    lp += 2 * x <= 7
    with pytest.warns(UserWarning, match="GLPK's option relax has no counterpart"):
        solver = gpu_bridge.GPUHEUR(msg=False, options=["--relax"])
    lp.solve(solver)
    assert x.value() == 3.0
    lp.solve(gpu_bridge.GPUHEUR(msg=False, options=["relax=True"]))
    assert x.value() == pytest.approx(3.5)


def test_nor_is_it_ours_in_a_text_of_pyomo_or_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 10), domain=pyo.Integers)
    m.o = pyo.Objective(expr=m.x, sense=pyo.maximize)
    m.c = pyo.Constraint(expr=2 * m.x <= 7)
    with pytest.warns(UserWarning, match="GLPK's option relax has no counterpart"):
        pyo.SolverFactory("gpuheur").solve(m, options="relax")
    assert m.x.value == 3.0
    model = tmp_path / "model.lp"
    model.write_text("Maximize\n x\nSubject To\n 2 x <= 7\nGenerals\n x\nEnd\n")
    with pytest.warns(UserWarning, match="GLPK's option relax has no counterpart"):
        assert main(["solve", str(model), "--option", "relax"]) == 0
    assert "Objective   3\n" in capsys.readouterr().out


@pytest.mark.filterwarnings("error")
@through("word", ["cuts", "gomory", "mir", "fpump"])
def test_a_word_of_glpk_for_what_is_done_anyway_is_no_warning(word: str) -> None:
    solver = gpu_bridge.GPUHEUR(msg=False, options=[f"--{word}", "--tmlim", "10"])
    lp = pulp.LpProblem("bounded", pulp.LpMaximize)
    lp += lp.add_variable("x", 0, 10)
    lp.solve(solver)
    assert f"{word} of GLPK changes nothing here" in solver.outcome.log


def test_an_array_has_no_meaning_for_another_solvers_option() -> None:
    with pytest.warns(UserWarning, match="cuts="):
        make_options(cuts=np.array([1, 2]))


def linear() -> tuple[pyo.ConcreteModel, pulp.LpProblem]:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(1, 2))
    m.o = pyo.Objective(expr=m.x)
    m.c = pyo.Constraint(expr=m.x >= 1.5)
    lp = pulp.LpProblem("small")
    lp += lp.add_variable("x", 1, 2)
    return m, lp


TOLD = "option TimeLimit of Gurobi is time_limit here"


@pytest.mark.parametrize("how", ["keyword", "options", "on the solver", "text", "constructor"])
def test_every_place_of_pyomo(how: str) -> None:
    m, _ = linear()
    made = {"TimeLimit": 50} if how == "constructor" else {}
    solver = pyo.SolverFactory("gpuheur", **made)
    if how == "on the solver":
        solver.options["TimeLimit"] = 50
    call: dict[str, Any] = {
        "keyword": {"TimeLimit": 50},
        "options": {"options": {"TimeLimit": 50}},
        "text": {"options_string": "TimeLimit=50"},
    }.get(how, {})
    log = solver.solve(m, **call).solution_loader.outcome.log
    assert log.count(TOLD) == 1
    assert m.x.value == 1.5


@pytest.mark.parametrize("call", [{"TimeLimit": 50}, {"solver_options": {"TimeLimit": 50}}])
def test_the_new_interface_of_pyomo(call: dict[str, Any]) -> None:
    m, _ = linear()
    results = gpu_bridge.adapters.pyomo.GpuHeur().solve(m, **call)
    assert results.solver_log.count(TOLD) == 1


def test_a_call_goes_before_the_solver_in_pyomo() -> None:
    m, _ = linear()
    solver = pyo.SolverFactory("gpuheur", options={"TimeLimit": 100})
    results = solver.solve(m, timelimit=0)
    assert results.solver.termination_condition == "maxTimeLimit"


@pytest.mark.parametrize("made", [{"TimeLimit": 50}, {"options": ["TimeLimit=50"]}])
def test_every_place_of_pulp(made: dict[str, Any]) -> None:
    _, lp = linear()
    solver = gpu_bridge.GPUHEUR(msg=False, **made)
    lp.solve(solver)
    assert solver.outcome.log.count(TOLD) == 1


class StoppedError(Exception):
    """Holds the options of a solve that was stopped before it began."""


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no solve begin."""

    def stop(problem: Any, options: Any, **more: Any) -> None:
        raise StoppedError(options)

    monkeypatch.setattr("gpu_bridge.adapters.pyomo.solve_model.dispatch", stop)
    monkeypatch.setattr("gpu_bridge.pipeline.dispatch.solve", stop)


def places(name: str, value: Any) -> dict[str, Callable[[], object]]:
    """Return a solve for each place where an option can be given."""
    m, lp = linear()
    on_solver = pyo.SolverFactory("gpuheur")
    on_solver.options[name] = value
    kept = pyo.SolverFactory("gpuheur_persistent", model=m)

    def of_pyomo(solver: Any, /, **call: Any) -> Callable[[], object]:
        return lambda: solver.solve(m, **call)

    def of_pulp(**made: Any) -> Callable[[], object]:
        return lambda: lp.solve(gpu_bridge.GPUHEUR(msg=False, **made))

    return {
        "keyword": of_pyomo(pyo.SolverFactory("gpuheur"), **{name: value}),
        "options": of_pyomo(pyo.SolverFactory("gpuheur"), options={name: value}),
        "on the solver": of_pyomo(on_solver),
        "text": of_pyomo(pyo.SolverFactory("gpuheur"), options_string=f"{name}={value}"),
        "constructor": of_pyomo(pyo.SolverFactory("gpuheur", **{name: value})),
        "persistent": of_pyomo(kept, options={name: value}),
        "new": of_pyomo(gpu_bridge.adapters.pyomo.GpuHeur(), solver_options={name: value}),
        "PuLP's keyword": of_pulp(**{name: value}),
        "PuLP's list": of_pulp(options=[f"{name}={value}"]),
        "words": of_pulp(options=[f"{name} {value}"]),
        "pair": of_pulp(options=[(name, value)]),
    }


@through("row", WITH_OPTION)
def test_every_name_in_every_place(row: OtherName, stopped: None) -> None:
    kind = option_rows()[row.option or ""].type
    samples = {"bool": True, "str | None": "a.log", "float": 0.01, "float | None": 500.0}
    value = samples.get(kind, 3) if row.values is None else next(filter(None, row.values))
    for name in row.names:
        expected = vars(make_options({name: value}))[row.option or ""]
        for place, solve in places(name, value).items():
            with pytest.raises(StoppedError) as caught:
                solve()
            found = vars(caught.value.args[0])[row.option or ""]
            if row.option == "time_limit":  # some of it is over
                found = pytest.approx(found, abs=60)
            assert expected == found, (name, place)


@pytest.mark.parametrize(
    "words", [["--TimeLimit", "50"], ["--TimeLimit=50"], ["--option", "TimeLimit=50"]]
)
def test_the_command_line(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "m.lp"
    model.write_text("max\n obj: x\nst\n c: x <= 4\nend\n")
    assert main(["solve", *words, str(model)]) == 0
    assert capsys.readouterr().out.count(TOLD) == 1


def test_the_page_has_every_name() -> None:
    hook = docs_hook()
    text = (ROOT / "docs" / "option-names.md").read_text("utf-8")
    page = SimpleNamespace(file=SimpleNamespace(src_uri="option-names.md"))
    built = hook.on_page_markdown(text, page=page)
    names, absent = hook.names_table(), hook.absent_table()
    assert names in built
    assert absent in built
    for row in WITH_OPTION:
        assert all(f"`{name}`" in names for name in row.names)
    for row in WITHOUT:
        assert all(f"`{name}`" in absent for name in row.names)
        assert row.harmless == ANY or row.hint in absent
