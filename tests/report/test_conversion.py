"""What a long conversion says of itself, and that a short one says nothing."""

import io

import pulp
import pyomo.environ as pyo
import pytest

from gpu_bridge.adapters.pulp.reading import read_model
from gpu_bridge.adapters.pyomo.convert import convert_again
from gpu_bridge.options import make_options
from gpu_bridge.report import conversion
from tests.adapters.pulp.models import pulp_3_only


@pytest.fixture
def model():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(5), bounds=(0, 1))
    m.rows = pyo.Constraint(range(4), rule=lambda m, i: m.x[i] + 2 * m.x[i + 1] >= 1)
    m.cost = pyo.Objective(expr=sum(m.x.values()))
    return m


def told_by(convert):
    stream = io.StringIO()
    convert(conversion.conversion_log(make_options(), [stream]))
    return stream.getvalue().splitlines()


def test_a_long_conversion_of_pyomo_counts_the_rows(model, monkeypatch):
    monkeypatch.setattr(conversion, "EVERY", 0.0)
    monkeypatch.setattr(conversion, "ROWS", 3)
    lines = told_by(lambda tell: convert_again(type("Solver", (), {})(), model, tell))
    assert all(line.startswith("Converting") for line in lines)
    assert [line.split(maxsplit=1)[1] for line in lines[:2]] == [
        "3 constraints are read",
        "4 constraints are read",
    ]
    assert any("5 variables" in line for line in lines)


@pulp_3_only
def test_a_long_conversion_of_pulp_says_what_comes_next(monkeypatch):
    monkeypatch.setattr(conversion, "EVERY", 0.0)
    lp = pulp.LpProblem("small")
    x = [lp.add_variable(f"x{i}", 0) for i in range(3)]
    lp += pulp.lpSum(x)
    lp += x[0] + x[1] >= 1
    lines = told_by(lambda tell: read_model(lp, tell))
    assert any("1 constraints" in line for line in lines)
    assert any("coefficients" in line for line in lines)


def test_a_short_conversion_says_nothing(model):
    assert told_by(lambda tell: convert_again(type("Solver", (), {})(), model, tell)) == []


def test_a_broken_stream_does_not_end_a_conversion(monkeypatch):
    monkeypatch.setattr(conversion, "EVERY", 0.0)

    class Broken(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError("disk full")

    conversion.conversion_log(make_options(), [Broken()])("rows")


def test_parts_are_all_rows_in_their_order(monkeypatch):
    monkeypatch.setattr(conversion, "ROWS", 4)
    parts = list(conversion.in_parts(range(10)))
    assert [len(part) for part in parts] == [4, 4, 2]
    assert [row for part in parts for row in part] == list(range(10))
