"""What a heuristic is worth: means of pairs, and intervals that grow with what differs."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import mip_ablation, mip_changed, mip_variants
from benchmarks.mip_ablation import NOISE, interval, names, neighbourhoods, worth
from benchmarks.mip_changed import is_named
from benchmarks.mip_variants import Run, parse
from solvers.mip.heuristics.large_neighbourhood import search
from solvers.mip.table import TABLE


def run(model: str, variant: str, seed: int, gap: float) -> Run:
    return Run(model, variant, seed, 1.0, 2.0, gap, gap, 3.0, False)


def test_only_pairs_of_one_model_and_seed_count() -> None:
    runs = [run("a", "", 0, 0.1), run("a", "-x", 0, 0.4), run("b", "", 0, 0.5)]
    found = worth("-x", runs, [0], [0])
    assert found["left out"] == "x"
    assert found["models"] == 1
    assert found["gap"] == pytest.approx(0.3)
    assert found["log first"] == 0.0


def test_the_noise_is_what_other_seeds_do() -> None:
    runs = [run(model, "", seed, 0.1 * seed) for model in "abc" for seed in range(4)]
    assert worth(NOISE, runs, [0, 1], [2, 3])["gap"] == pytest.approx(0.2)
    assert np.isnan(worth("-y", runs, [0], [0])["gap"])


def test_an_interval_is_as_wide_as_values_differ() -> None:
    rng = np.random.default_rng(1)
    narrow, wide = (interval((scale * rng.standard_normal(60)).tolist())[1] for scale in (0.1, 1.0))
    assert 0.0 < narrow < wide / 5.0
    assert interval([0.25] * 8) == (0.25, 0.0)


def test_every_name_stands_for_rows_of_the_table() -> None:
    assert {row.name for row in TABLE} <= set(names())
    for name in names():
        assert any(is_named(row, name) for row in TABLE), name


@pytest.mark.parametrize("program", [mip_variants, mip_ablation])
def test_variants_on_the_command_line_may_begin_with_a_dash(program) -> None:
    given = ["models", "--variants", "", "-improve", "-kind:dives,m.C=0", "--seeds", "1", "2"]
    found = parse(program.make_parser(), given)
    assert found.variants == ["", "-improve", "-kind:dives,m.C=0"]
    assert found.seeds == [1, 2]


def test_a_neighbourhood_is_left_out_of_the_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    before = search.CATALOGUE
    monkeypatch.setattr(search, "CATALOGUE", before)
    for name in neighbourhoods():
        search.CATALOGUE = before
        mip_changed.change(f"-{name}")
        assert len(search.CATALOGUE) == len(before) - 1
        assert name.endswith((set(before) - set(search.CATALOGUE)).pop().name)
    with pytest.raises(KeyError, match="no neighbourhood 'x'"):
        mip_changed.change("-neighbourhood:x")


def test_one_heuristic_has_all_turns_but_for_what_it_needs() -> None:
    names = {row.name for row in mip_changed.turns_of("large_neighbourhood")}
    assert names == {"neighbourhood", "dive", "guided dive", "root"}
    with pytest.raises(KeyError, match="no heuristic in 'x'"):
        mip_changed.turns_of("x")
