"""The command line: every exit code, every kind of trouble, and what is printed where."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from gpu_bridge import warm_up
from gpu_bridge.cli import main
from gpu_bridge.cli.exit_codes import SENTENCES, ExitCode, exit_code_help
from gpu_bridge.options import Options, make_options, option_table
from gpu_bridge.outcome import Outcome, PoolSolution, SolutionStatus, StopReason
from solvers.errors import EngineError
from solvers.problem import Problem

LINEAR = """Minimize
 cost: x + 2 y
Subject To
 demand: x + y >= 2
Bounds
 x <= 1.5
End
"""

KNAPSACK = """Maximize
 value: 5 a + 4 b + 3 c
Subject To
 weight: 2 a + 3 b + c <= 5
 size: 4 a + b + 2 c <= 11
Binary
 a
 b
 c
End
"""

INFEASIBLE = """Minimize
 cost: x + y + z
Subject To
 at_least: x + y >= 10
 at_most: x + y <= 4
 other: x + z >= 1
End
"""

UNBOUNDED = """Minimize
 gain: - x - y
Subject To
 difference: x - y <= 3
End
"""

CROSSED = """Minimize
 cost: x
Subject To
 row: x + y >= 1
Bounds
 3 <= x <= 1
End
"""


def hard_model() -> str:
    """Points that share no edge of a random graph: some are easily found, a proof takes ages."""
    random = np.random.default_rng(7)
    count = 250
    edges = [(i, j) for i in range(count) for j in range(i) if random.random() < 0.1]
    goal = " + ".join(f"x{i}" for i in range(count))
    rows = [f" e{k}: x{i} + x{j} <= 1" for k, (i, j) in enumerate(edges)]
    names = "\n".join(f" x{i}" for i in range(count))
    return f"Maximize\n total: {goal}\nSubject To\n" + "\n".join(rows) + f"\nBinary\n{names}\nEnd\n"


@dataclass
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str

    def value(self, label: str) -> str:
        (found,) = re.findall(rf"^{label:<12}(.*)$", self.out, re.MULTILINE)
        return str(found)


Run = Callable[..., Answer]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*words: object) -> Answer:
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Answer(code, captured.out, captured.err)

    return call


@pytest.fixture
def model(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str, name: str = "model.lp") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def complaint(answer: Answer) -> str:
    """Return the one line on stderr; nothing may stand on stdout then."""
    assert answer.out == ""
    lines = answer.err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("gpu-bridge: ")
    return lines[0]


def test_optimal_linear_program(run: Run, model: Callable[..., Path]) -> None:
    answer = run("solve", model(LINEAR), "--quiet")
    assert answer.code == ExitCode.OPTIMAL == 0
    assert answer.value("Status").startswith("optimal")
    assert float(answer.value("Objective")) == pytest.approx(2.5)
    assert answer.err == ""
    assert "gpu-bridge" not in answer.out, "no log"


def test_log_shows_model_engine_and_result_once(run: Run, model: Callable[..., Path]) -> None:
    answer = run("solve", model(KNAPSACK), "--threads", 1)
    assert answer.code == 0
    assert "maximize" in answer.value("Model")
    assert answer.value("Columns") == "3 (3 binary)"
    assert float(answer.value("Objective")) == 9.0
    assert answer.out.count("\nStatus ") == 1


def test_feasible_without_proof(run: Run, model: Callable[..., Path]) -> None:
    words = ["--method", "highs", "--node-limit", 1, "--threads", 1, "--quiet"]
    answer = run("solve", model(hard_model()), *words)
    assert answer.code == ExitCode.FEASIBLE == 1
    assert answer.value("Status").startswith("feasible")
    assert float(answer.value("Objective")) > 0.0


def test_infeasible_prints_the_explanation_by_name(run: Run, model: Callable[..., Path]) -> None:
    for flags in (["--quiet"], []):
        answer = run("solve", model(INFEASIBLE), *flags)
        assert answer.code == ExitCode.INFEASIBLE == 2
        assert answer.value("Status").startswith("infeasible")
        assert "at_least" in answer.out
        assert "at_most" in answer.out
        assert not re.search(r"^Objective    ", answer.out, re.MULTILINE)


def test_bounds_that_cross_are_infeasible_not_a_mistake(
    run: Run, model: Callable[..., Path]
) -> None:
    for flags in (["--quiet"], []):
        answer = run("solve", model(CROSSED), *flags)
        assert answer.code == 2
        assert answer.value("Status").startswith("infeasible")
        assert answer.out.count("variable 'x' is above") == 1
    assert run("info", model(CROSSED)).code == 2


def test_unbounded(run: Run, model: Callable[..., Path]) -> None:
    answer = run("solve", model(UNBOUNDED), "--quiet")
    assert answer.code == ExitCode.UNBOUNDED == 3
    assert answer.value("Status").startswith("unbounded")


def test_time_limit_of_zero_finds_nothing(run: Run, model: Callable[..., Path]) -> None:
    answer = run("solve", model(LINEAR), "--time-limit", 0)
    assert answer.code == ExitCode.NOTHING == 4
    assert answer.value("Status").startswith("nothing")
    assert answer.value("Stopped") == "the time limit was reached"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "usage"),
        (["slve", "x"], "invalid choice: 'slve'"),
        (["solve"], "MODEL"),
        (["solve", "m.lp", "--time-limt", "3"], "did you mean '--time-limit'"),
        (["solve", "m.lp", "--time-limit", "-3"], "at least 0"),
        (["solve", "m.lp", "--time-limit", "soon"], "got 'soon'"),
        (["solve", "m.lp", "--time-limit", "nan"], "nan"),
        (["solve", "m.lp", "--time-limit"], "expected one argument"),
        (["solve", "m.lp", "--method", "pdpl"], "Did you mean 'pdlp'"),
        (["solve", "m.lp", "--option", "tolerence=1"], "did you mean 'tolerance'"),
        (["solve", "m.lp", "--option", "threads"], "NAME=VALUE"),
        (["solve", "m.lp", "--threads", "2", "--option", "threads=3"], "given twice"),
        (["info", "m.lp", "--option", "threads=-1"], "0 to 1024"),
        (["devices", "--fast"], "'--fast' is not known"),
    ],
)
def test_wrong_usage(run: Run, words: list[str], says: str) -> None:
    answer = run(*words)
    assert answer.code == ExitCode.USAGE == 64
    assert says in answer.err
    assert answer.out == ""


def test_method_that_cannot_treat_the_model(run: Run, model: Callable[..., Path]) -> None:
    answer = run("solve", model(KNAPSACK), "--method", "pdlp")
    assert answer.code == 64
    assert "linear programs only" in complaint(answer)
    assert run("info", model(KNAPSACK), "--method", "pdlp").code == 64


def test_options_by_flag_and_by_name_reach_the_solve(run: Run, model: Callable[..., Path]) -> None:
    answer = run(
        "solve",
        model(KNAPSACK),
        "--relax",
        "--no-presolve",
        "--option",
        "seed=7",
        "--option",
        "rel-gap=0.5",
    )
    assert answer.code == 0
    changed = set(answer.value("Options").split(", "))
    assert changed == {"relax=True", "presolve=False", "seed=7", "rel_gap=0.5"}
    assert float(answer.value("Objective")) > 9.0, "the relaxation is worth more"


@pytest.mark.parametrize("command", ["solve", "info"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("missing.mps", None),
        ("folder.mps", "folder"),
        ("empty.lp", b""),
        ("binary.lp", bytes(range(256)) * 4),
        ("short.lp", LINEAR[:40].encode()),
        ("short.mps.gz", gzip.compress(LINEAR.encode() * 99)[:60]),
        ("text.lp", b"This is a letter, not a model.\n"),
        ("model.xyz", LINEAR.encode()),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value else "",
)
def test_bad_model_file(
    run: Run, tmp_path: Path, command: str, name: str, content: bytes | str | None
) -> None:
    path = tmp_path / name
    if content == "folder":
        path.mkdir()
    elif isinstance(content, bytes):
        path.write_bytes(content)
    answer = run(command, path)
    assert answer.code == ExitCode.BAD_MODEL == 65
    assert name in complaint(answer)


def test_gpu_asked_for_where_there_is_none(
    run: Run, model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    for command in ("solve", "info"):
        answer = run(command, model(LINEAR), "--device", "cuda")
        assert answer.code == ExitCode.UNAVAILABLE == 69
        assert "GPU" in complaint(answer)


def test_engine_trouble(
    run: Run, model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise EngineError("The engine gave up on row 'demand'.")

    monkeypatch.setattr("gpu_bridge.api.solve", fail)
    answer = run("solve", model(LINEAR))
    assert answer.code == ExitCode.ENGINE_TROUBLE == 70
    assert complaint(answer) == "gpu-bridge: The engine gave up on row 'demand'."


def test_a_second_ctrl_c(
    run: Run, model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gpu_bridge.api.solve", stop)
    answer = run("solve", model(LINEAR))
    assert answer.code == ExitCode.INTERRUPTED == 130
    assert complaint(answer) == "gpu-bridge: interrupted."


def test_not_enough_memory(
    run: Run, model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise MemoryError

    monkeypatch.setattr("gpu_bridge.api.solve", fail)
    answer = run("solve", model(LINEAR))
    assert answer.code == 70
    assert "memory" in complaint(answer)


@pytest.mark.parametrize("flag", ["--solution", "--json", "--plot", "--log-file"])
@pytest.mark.parametrize("place", ["nowhere/out.png", "."])
def test_outputs_are_checked_before_the_solve(
    run: Run,
    model: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    flag: str,
    place: str,
) -> None:
    def never(*arguments: object, **options: object) -> None:
        pytest.fail("solved before the outputs were checked")

    monkeypatch.setattr("gpu_bridge.api.solve", never)
    answer = run("solve", model(LINEAR), flag, tmp_path / place)
    assert answer.code == ExitCode.CANNOT_WRITE == 73
    assert str(tmp_path) in complaint(answer)


def test_plot_with_an_ending_that_is_no_picture(run: Run, model: Callable[..., Path]) -> None:
    answer = run("solve", model(LINEAR), "--plot", "picture.docx")
    assert answer.code == 64
    assert "png" in complaint(answer)
    assert not Path("picture.docx").exists()


def test_plot_without_matplotlib(
    run: Run, model: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpu_bridge.plot.find_spec", lambda name: None)
    answer = run("solve", model(LINEAR), "--plot", tmp_path / "a.png")
    assert answer.code == 69
    assert "gpu-bridge[plot]" in complaint(answer)


def test_outputs_never_overwrite_the_model_or_each_other(
    run: Run, model: Callable[..., Path], tmp_path: Path
) -> None:
    path = model(LINEAR)
    assert "overwrite" in complaint(run("solve", path, "--solution", path))
    assert path.read_text() == LINEAR
    twice = ["--json", tmp_path / "same", "--solution", tmp_path / "same"]
    answer = run("solve", path, *twice)
    assert answer.code == 64
    assert "--json" in complaint(answer)


def test_outputs_hold_the_answer(run: Run, model: Callable[..., Path], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    solution, everything, picture, log = (
        tmp_path / name for name in ("a.sol", "a.json", "a.png", "a.log")
    )
    answer = run(
        "solve",
        model(KNAPSACK),
        "--solution",
        solution,
        "--json",
        everything,
        "--plot",
        picture,
        "--log-file",
        log,
    )
    assert answer.code == 0
    assert str(solution) in answer.value("Written")
    assert "=obj= 9" in solution.read_text()
    assert json.loads(everything.read_text())["objective"] == 9.0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert log.read_text() in answer.out


def test_without_a_point_the_files_say_why(
    run: Run, model: Callable[..., Path], tmp_path: Path
) -> None:
    solution, everything = tmp_path / "a.sol", tmp_path / "a.json"
    answer = run("solve", model(INFEASIBLE), "--solution", solution, "--json", everything)
    assert answer.code == 2
    assert solution.read_text() == "=infeas=\n"
    record = json.loads(everything.read_text())
    assert record["status"] == "infeasible"
    assert record["objective"] is None


def test_start_from_a_solution_file(run: Run, model: Callable[..., Path], tmp_path: Path) -> None:
    path, solution = model(KNAPSACK), tmp_path / "a.sol"
    assert run("solve", path, "--solution", solution, "--quiet").code == 0
    answer = run("solve", path, "--start", solution, "--quiet")
    assert answer.code == 0
    assert float(answer.value("Objective")) == 9.0
    missing = run("solve", path, "--start", tmp_path / "none.sol")
    assert missing.code == 65
    assert "none.sol" in complaint(missing)


def test_info_describes_the_model_and_the_engine(run: Run, model: Callable[..., Path]) -> None:
    answer = run("info", model(KNAPSACK))
    assert answer.code == 0
    assert answer.value("Rows") == "2 (2 one-sided)"
    assert answer.value("Columns") == "3 (3 binary)"
    assert answer.value("Per row") == "3 to 3 nonzeros, half of them at most 3"
    assert "matrix [1e+00, 4e+00]" in answer.value("Ranges")
    assert "knapsack problem of 3 items and 2 rows" in answer.value("Structure")
    assert answer.value("Engine").startswith("knapsack on cpu: ")
    assert "for highs" in answer.value("Memory")
    assert "pdlp" not in answer.out, "it takes linear programs only"


def test_info_of_the_relaxation(run: Run, model: Callable[..., Path]) -> None:
    answer = run("info", model(KNAPSACK), "--relax", "--method", "pdlp", "--device", "cpu")
    assert answer.value("Columns") == "3 (3 continuous)"
    assert answer.value("Engine").startswith("pdlp on cpu")
    assert re.search(r"about .*B and .*B on the GPU for pdlp on cuda", answer.out)


def test_devices_lists_the_cpu(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    answer = run("devices")
    assert answer.code == 0
    assert answer.out.startswith("cpu ")
    assert "No NVIDIA GPU is visible" in answer.out


def test_options_shows_the_whole_table(run: Run) -> None:
    answer = run("options")
    assert answer.code == 0
    for row in option_table():
        assert f"\n{row.name} " in f"\n{answer.out}"


def test_version_names_this_package_and_highs(run: Run) -> None:
    answer = run("--version")
    assert answer.code == 0
    assert re.fullmatch(r"gpu-bridge \d\S*, HiGHS \d\S*, Python \d\S*\n", answer.out)


def test_help_documents_exit_codes_and_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["solve", "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert exit_code_help() in text
    for row in option_table():
        if row.name != "log":
            assert f"--{row.name.replace('_', '-')}" in text


def test_every_exit_code_has_a_sentence() -> None:
    assert set(SENTENCES) == set(ExitCode)


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "gpu_bridge", *map(str, words)]


def test_as_a_program(model: Callable[..., Path]) -> None:
    done = subprocess.run(
        command("solve", model(INFEASIBLE), "--quiet"), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2
    assert "at_most" in done.stdout
    assert done.stderr == ""


def test_listing_starts_without_heavy_imports() -> None:
    program = (
        "import sys; from gpu_bridge.cli import main; main(['options']); "
        "heavy = {'numpy', 'scipy', 'highspy', 'numba', 'rich', 'pyomo', 'pulp', 'matplotlib'}; "
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert done.stderr == ""


def test_ctrl_c_writes_the_best_point_and_says_so(
    model: Callable[..., Path], tmp_path: Path
) -> None:
    solution = tmp_path / "best.sol"
    words = ["solve", model(hard_model()), "--threads", 1, "--time-limit", 600]
    with subprocess.Popen(
        command(*words, "--solution", solution),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        said = ""
        while "Found by" not in said:
            line = process.stdout.readline()
            assert line, f"ended too early: {said}"
            said += line
        process.send_signal(signal.SIGINT)
        rest, complaints = process.communicate(timeout=240)
    assert process.returncode == ExitCode.INTERRUPTED == 130
    assert "the solve was interrupted" in rest
    assert "Traceback" not in complaints
    assert "=obj=" in solution.read_text()


@pytest.mark.skipif(os.name != "posix", reason="pipes break with a signal on POSIX only")
def test_reader_that_goes_away_gets_no_traceback() -> None:
    with subprocess.Popen(
        command("options"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        complaints = process.stderr.read()
        process.wait(timeout=120)
    assert complaints == ""
    assert process.returncode == ExitCode.CLOSED_PIPE


def test_warm_up_compiles_for_every_device_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    quick = {name: warm_up._PARTS[name] for name in ("placing", "sums")}
    monkeypatch.setattr(warm_up, "_PARTS", quick)
    assert main(["warm-up"]) == ExitCode.OPTIMAL
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Compiling for ")
    assert re.fullmatch(r"Done after \d+ s\.", lines[-1])


def with_pool(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let solves of KNAPSACK return a pool of three points; note the size that was asked for."""
    sizes: list[int] = []

    def solve(problem: Problem, options: Options, **more: object) -> Outcome:
        sizes.append(options.pool_size)
        facts = [([1.0, 1.0, 0.0], 9.0), ([1.0, 0.0, 1.0], 8.0), ([0.0, 1.0, 1.0], 7.0)]
        points = [PoolSolution(np.array(x), worth, 0.1, "walk") for x, worth in facts]
        return Outcome(
            SolutionStatus.FEASIBLE,
            StopReason.TIME_LIMIT,
            objective=9.0,
            x=points[0].x,
            problem=problem,
            pool=tuple(points[: options.pool_size]),
        )

    monkeypatch.setattr("gpu_bridge.dispatch.solve", solve)
    return sizes


def test_a_pool_is_written_beside_the_solution(
    run: Run, model: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = with_pool(monkeypatch)
    path, solution = model(KNAPSACK), tmp_path / "a.sol"
    answer = run("solve", path, "--solution", solution, "--pool", "5")
    assert answer.code == ExitCode.FEASIBLE
    assert sizes == [5]
    files = [solution, tmp_path / "a-2.sol", tmp_path / "a-3.sol"]
    assert answer.value("Written") == ", ".join(map(str, files))
    assert ["=obj= 9" in files[0].read_text(), "=obj= 8" in files[1].read_text()] == [True, True]
    assert files[2].read_text() == "=obj= 7.0\na 0\nb 1\nc 1\n"
    assert not (tmp_path / "a-4.sol").exists()


def test_no_more_points_are_written_than_asked_for(
    run: Run, model: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = with_pool(monkeypatch)
    solution = tmp_path / "a.sol"
    run("solve", model(KNAPSACK), "--solution", solution)
    assert not (tmp_path / "a-2.sol").exists()
    run("solve", model(KNAPSACK), "--solution", solution, "--pool", "2", "--pool-size", "7")
    assert (tmp_path / "a-2.sol").exists()
    assert not (tmp_path / "a-3.sol").exists()
    assert sizes == [make_options().pool_size, 7]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--pool", "3"], "--pool needs --solution"),
        (["--solution", "a.sol", "--pool", "0"], "no whole number of at least 1"),
        (["--solution", "a.sol", "--pool", "many"], "no whole number of at least 1"),
        (["--solution", "a.sol", "--pool", "2", "--json", "a-2.sol"], "would overwrite"),
    ],
)
def test_a_pool_that_cannot_be_written_is_refused(
    run: Run, model: Callable[..., Path], words: list[str], sentence: str
) -> None:
    answer = run("solve", model(KNAPSACK), *words)
    assert answer.code == ExitCode.USAGE
    assert sentence in complaint(answer)


def test_json_has_the_pool_with_times_and_sources(
    run: Run, model: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_pool(monkeypatch)
    everything = tmp_path / "a.json"
    run("solve", model(KNAPSACK), "--json", everything)
    pool = json.loads(everything.read_text())["pool"]
    assert [entry["objective"] for entry in pool] == [9.0, 8.0, 7.0]
    assert pool[1] == {
        "objective": 8.0,
        "seconds": 0.1,
        "source": "walk",
        "x": {"a": 1.0, "b": 0.0, "c": 1.0},
    }
