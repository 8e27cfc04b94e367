"""The option table: what it refuses, with which words, and what is made from it."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_bridge.cli.parser import text_table
from gpu_bridge.option_values import OptionRow
from gpu_bridge.options import Options, make_options, option_table
from solvers.core.errors import OptionError
from tests.cases import through
from tests.hook import docs_hook

TABLE = {row.name: row for row in option_table()}


def test_table_is_sorted_complete_and_has_a_sentence_for_each_option() -> None:
    names = [row.name for row in option_table()]
    assert names == sorted(names)
    assert {*names, "notes"} == {item.name for item in dataclasses.fields(Options)}
    for row in option_table():
        assert row.sentence.endswith(".")
        assert row.sentence[0].isupper()


def test_defaults_pass_their_own_validation() -> None:
    assert make_options({row.name: row.default for row in option_table()}) == Options()
    assert make_options() == Options()


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("timelimits", "time_limit"),
        ("Treads", "threads"),
        ("mipgaps", "rel_gap"),
        ("tolerence", "tolerance"),
    ],
)
def test_unknown_name_is_refused_with_the_nearest_valid_one(name: str, nearest: str) -> None:
    with pytest.raises(OptionError, match=f"no option '{name}'; did you mean '{nearest}'"):
        make_options({name: 1})


def test_a_name_like_no_other_is_refused_with_the_list_of_names() -> None:
    with pytest.raises(OptionError, match=r"known are: abs_gap, .*tolerance"):
        make_options(zzzzqqq=1)
    with pytest.raises(OptionError, match="no option '3'"):
        make_options({3: 1})  # type: ignore[dict-item]


@through(
    ("name", "value", "words"),
    [
        ("threads", "two", "'two' is a str"),
        ("threads", 1.5, "1.5 is a float"),
        ("threads", True, "True is a bool"),
        ("threads", math.inf, "inf is a float"),
        ("threads", [1], "list"),
        ("time_limit", "soon", "'soon' is a str"),
        ("time_limit", False, "False is a bool"),
        ("presolve", 2, "2 is a int"),
        ("relax", "perhaps", "'perhaps' is a str"),
        ("presolve", None, "None was given"),
        ("method", 3, "3 is a int"),
        ("log_file", 1e20, "is a float"),
        ("method", None, "None was given"),
        ("tolerance", 1j, "complex"),
        ("tolerance", np.array([1e-3]), "ndarray"),
    ],
)
def test_wrong_type_is_refused_with_the_value(name: str, value: object, words: str) -> None:
    with pytest.raises(OptionError, match=f"Option '{name}' needs a .*{words}"):
        make_options({name: value})


@through(
    ("name", "value"),
    [
        ("threads", -1),
        ("threads", 1025),
        ("time_limit", -0.5),
        ("time_limit", math.nan),
        ("tolerance", 0.0),
        ("tolerance", 0.2),
        ("tolerance", math.nan),
        ("rel_gap", -1e-12),
        ("rel_gap", np.float64("nan")),
        ("seed", 2**31),
        ("iteration_limit", -1),
    ],
)
def test_value_out_of_range_is_refused_with_the_range(name: str, value: float) -> None:
    with pytest.raises(OptionError, match=f"Option '{name}' must be (at least )?\\S+.*was given"):
        make_options({name: value})


@through(
    ("name", "value"),
    [
        ("threads", 0),
        ("threads", 1024),
        ("time_limit", 0.0),
        ("tolerance", 1e-10),
        ("tolerance", 1e-1),
        ("seed", 2**31 - 1),
        ("rel_gap", math.inf),
    ],
)
def test_ends_of_a_range_are_inside(name: str, value: float) -> None:
    assert getattr(make_options({name: value}), name) == value


def test_wrong_choice_is_refused_with_the_nearest() -> None:
    with pytest.raises(OptionError, match=r"one of auto, highs.*Did you mean 'highs'"):
        make_options(method="HIGHS")
    with pytest.raises(OptionError, match=r"one of auto, cuda, cuda:N, .*cpu; 'quantum' was given"):
        make_options(device="quantum")


@through(
    ("name", "value", "expected"),
    [
        ("threads", np.int64(3), 3),
        ("threads", 4.0, 4),
        ("threads", np.float32(2.0), 2),
        ("time_limit", np.float32(1.5), 1.5),
        ("time_limit", 7, 7.0),
        ("time_limit", np.array(2.5), 2.5),
        ("time_limit", None, None),
        ("time_limit", math.inf, None),
        ("work_limit", 1e100, None),
        ("presolve", np.bool_(False), False),
        ("log_file", Path("a") / "b.log", str(Path("a") / "b.log")),
        ("method", np.str_("pdlp"), "pdlp"),
    ],
)
def test_values_arrive_as_plain_python(name: str, value: object, expected: object) -> None:
    result = getattr(make_options({name: value}), name)
    assert result == expected
    assert type(result) is type(expected)


def test_keywords_win_over_the_mapping() -> None:
    assert make_options({"threads": 1, "seed": 4}, threads=2) == Options(threads=2, seed=4)


@through(
    ("name", "text", "value"),
    [
        ("threads", "4", 4),
        ("threads", " 4 ", 4),
        ("time_limit", "1e2", 100.0),
        ("time_limit", "none", None),
        ("time_limit", "inf", None),
        ("iteration_limit", "1000", 1000),
        ("presolve", "off", False),
        ("presolve", "Yes", True),
        ("relax", "1", True),
        ("method", "pdlp", "pdlp"),
        ("log_file", "Some Dir/Out.log", "Some Dir/Out.log"),
        ("log_file", "none", "none"),
    ],
)
def test_values_may_be_text(name: str, text: str, value: object) -> None:
    result = getattr(make_options({name: text}), name)
    assert result == value
    assert type(result) is type(value)


@through(
    ("name", "text"),
    [
        ("threads", "two"),
        ("threads", "1.5"),
        ("threads", "nan"),
        ("threads", "none"),
        ("presolve", "perhaps"),
        ("presolve", ""),
        ("tolerance", "1e-3x"),
        ("tolerance", "nan"),
        ("tolerance", "5"),
        ("method", "simplx"),
        ("tme_limit", "3"),
    ],
)
def test_text_that_does_not_fit_is_refused(name: str, text: str) -> None:
    with pytest.raises(OptionError, match=name):
        make_options({name: text})


@given(
    st.dictionaries(
        st.one_of(st.sampled_from(sorted(TABLE)), st.text(max_size=8)),
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6)),
        max_size=3,
    )
)
@settings(max_examples=300, derandomize=True, deadline=None)
def test_any_mapping_gives_options_or_an_option_error(values: dict[str, object]) -> None:
    try:
        options = make_options(values)
    except OptionError:
        return
    for row in option_table():  # what came of it is what the table allows, and stays as it is
        value = getattr(options, row.name)
        assert getattr(make_options({row.name: value}), row.name) == value


def test_a_numbered_choice() -> None:
    assert make_options(device="cuda:3").device == "cuda:3"
    assert make_options(device="cuda:0,2").device == "cuda:0,2"
    assert make_options(device="cuda:all").device == "cuda:all"
    for wrong in ("cuda:", "cuda:N", "cuda:-1", "cpu:1", "cuda3", "cuda:0,", "cuda:1,x", "cpu:all"):
        with pytest.raises(OptionError, match="cuda:N"):
            make_options(device=wrong)


def test_several_gpus_may_be_a_list() -> None:
    assert make_options(device=["cuda:0", "cuda:1"]).device == "cuda:0,1"
    assert make_options(device=("cuda", "cuda:3")).device == "cuda:0,3"
    assert make_options(device=["cpu"]).device == "cpu"
    for wrong in ([], ["cpu", "cuda:0"], ["cuda:0", 1]):
        with pytest.raises(OptionError, match="cuda:N,M"):
            make_options(device=wrong)


@pytest.mark.parametrize(
    ("crossover", "tolerance", "vertex"),
    [
        ("auto", 1e-6, True),
        ("auto", 1e-5, True),
        ("auto", 1e-4, False),
        ("on", 1e-2, True),
        ("off", 1e-9, False),
    ],
)
def test_when_a_vertex_is_wanted(crossover: str, tolerance: float, vertex: bool) -> None:
    assert make_options(crossover=crossover, tolerance=tolerance).wants_vertex is vertex


def test_ranges_read_well() -> None:
    assert TABLE["tolerance"].range == "1e-10 to 0.1"
    assert TABLE["rel_gap"].range == "at least 0"
    assert TABLE["device"].range == "auto, cuda, cuda:N, cuda:N,M, cuda:all, cpu"
    assert TABLE["presolve"].range == "true, false"
    assert TABLE["log_file"].range == ""


def test_documents_name_every_option_with_its_default_and_sentence() -> None:
    markdown, text = docs_hook().markdown_table(), text_table()
    for row in option_table():
        line = _line_of(markdown, f"| `{row.name}` |")
        assert row.sentence in line
        assert _default(row) in line
        assert row.sentence in " ".join(text.split())
    assert len(markdown.splitlines()) == len(TABLE) + 2
    assert len({line.count("|") for line in markdown.splitlines()}) == 1


def _line_of(text: str, start: str) -> str:
    found = [line for line in text.splitlines() if line.startswith(start)]
    assert len(found) == 1
    return found[0]


def _default(row: OptionRow) -> str:
    if row.default is None:
        return "none"
    return str(row.default).lower() if isinstance(row.default, bool) else str(row.default)
