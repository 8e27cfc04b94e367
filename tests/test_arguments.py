"""Arguments of a wrong type are refused at the door by an error of ours that names them."""

from __future__ import annotations

import io
import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import gpu_bridge as gb
from solvers.core.errors import OptionError, ProblemError
from tests.cases import through

PROBLEM = gb.Problem.from_arrays([1.0, 2.0], [[1.0, 1.0]], row_lower=1.0)
BATCH = gb.Batch(PROBLEM, cost=np.array([[1.0, 2.0], [3.0, 1.0]]))

NO_STREAMS = {
    "number": 5,
    "path": "solve.log",
    "bytes": b"log",
    "none": None,
    "one stream": sys.stdout,
    "list of a number": [5],
    "list of none": [None],
    "mapping": {"a": 1},
    "list of a stream of bytes": [io.BytesIO()],
}


@through("streams", [*NO_STREAMS.values()])
@through("problems", [PROBLEM, [PROBLEM], BATCH])
def test_what_is_no_list_of_text_streams_is_refused(problems: Any, streams: Any) -> None:
    door: Any = gb.solve if problems is PROBLEM else gb.solve_many
    with pytest.raises(OptionError, match="'streams' takes"):
        door(problems, streams=streams)


def test_streams_may_be_anything_with_write() -> None:
    class Words:
        text = ""

        def write(self, text: str) -> None:
            self.text += text

    words, file = Words(), io.StringIO()
    gb.solve(PROBLEM, streams=(stream for stream in (words, file)))  # type: ignore[arg-type]
    assert words.text == file.getvalue()
    assert "Objective   1\n" in words.text


@through("method", ["auto", "pdlp", "simplex"])
@through("start", [5, "x", [1.0, 1.0], np.ones(2)])
def test_what_is_no_start_is_refused_for_many(start: Any, method: str) -> None:
    for problems in (BATCH, [PROBLEM, PROBLEM], [PROBLEM]):
        with pytest.raises(OptionError, match=r"'start' must be a gpu_bridge\.Start"):
            gb.solve_many(problems, start=start, method=method, device="cpu")


@through("method", ["auto", "pdlp", "simplex"])
@through(
    ("start", "sentence"),
    [
        (gb.Start(x=5), r"'x' has shape \(\)"),  # type: ignore[arg-type]
        (gb.Start(x="ab"), "'x' is not an array of numbers"),  # type: ignore[arg-type]
        (gb.Start(x=[1.0]), r"'x' has shape \(1,\); it must be \(2,\)"),  # type: ignore[arg-type]
        (gb.Start(x=[1j, 0]), "'x' is not an array of numbers: some are complex"),  # type: ignore[arg-type, list-item]
        (gb.Start(row_dual=[1, 2]), r"'row_dual' has shape \(2,\)"),  # type: ignore[arg-type]
        (gb.Start(basis=4), "'basis' must be a Basis"),  # type: ignore[arg-type]
    ],
)
def test_parts_of_a_start_that_do_not_fit_a_batch_are_refused(
    start: gb.Start, sentence: str, method: str
) -> None:
    with pytest.raises(OptionError, match=sentence):
        gb.solve_many(BATCH, start=start, method=method, device="cpu")


@pytest.mark.parametrize("method", ["pdlp", "simplex"])
def test_lists_and_gaps_may_start_a_batch(method: str) -> None:
    start = gb.Start(x=[1.0, None], row_dual=[1.0])  # type: ignore[arg-type, list-item]
    outcomes = gb.solve_many(BATCH, start=start, method=method, device="cpu")
    assert outcomes.objectives == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("problems", [None, 5, "model.mps", b"m", PROBLEM, object(), sp.eye(2)])
def test_what_is_no_list_of_problems_is_refused(problems: Any) -> None:
    with pytest.raises(ProblemError, match=r"solve_many\(\) "):
        gb.solve_many(problems)


@pytest.mark.parametrize("path", [None, 5, bytearray(b"model.mps"), [], PROBLEM])
def test_what_is_no_path_is_not_read(path: Any) -> None:
    with pytest.raises(ProblemError, match=r"read\(\) takes the path"):
        gb.read(path)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"cost": "a"}, "'cost' is not an array of numbers"),
        ({"cost": [[1, 2], [3]]}, "'cost' is not an array of numbers"),
        ({"cost": [[1j, 2]]}, "'cost' is not an array of numbers: some are complex"),
        ({"offset": 5}, "'offset' of a Batch needs a row or number for each member; 5"),
        ({"prices": [[1, 2]]}, "no data 'prices'; there are: cost, lower"),
        ({}, "at least one array"),
        ({"cost": None}, "at least one array"),
    ],
)
def test_data_that_is_none_for_a_batch_is_refused(data: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ProblemError, match=sentence):
        gb.Batch.from_model_data(PROBLEM, **data)


@pytest.mark.parametrize("problem", [None, 5, "model.mps"])
def test_a_batch_of_no_problem_is_refused(problem: Any) -> None:
    with pytest.raises(ProblemError, match="first argument of a Batch"):
        gb.Batch.from_model_data(problem, cost=[[1.0, 2.0]])
    with pytest.raises(ProblemError, match="first argument of a Batch"):
        gb.Batch(problem, cost=np.ones((1, 2)))
