"""The roofline model against the paper's figures, statistics, and the survey of formats."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from solvers.core.device import cpu
from solvers.papers.sparse_formats.formats import build, from_scipy, to_sell
from solvers.papers.sparse_formats.kernels.bandwidth import BANDWIDTH
from solvers.papers.sparse_formats.machine import Machine
from solvers.papers.sparse_formats.roofline import (
    attainable,
    candidates,
    csr_intensity,
    loop_seconds,
    matrix_statistics,
    predict,
    product_traffic,
    survey,
)
from tests.matrices import each
from tests.papers.sparse_formats.matrices import (
    MATRICES,
    NAMES,
    any_matrix,
    matrix_of,
    of_row_lengths,
)

H200 = Machine("H200", "cuda", 4.3e12, 6e12, 50 * 2**20, 1.5e-6)


def figures_of(name: str):
    return matrix_statistics(from_scipy(MATRICES[name], cpu()))


def test_paper_loop_takes_six_milliseconds():
    """a[i] = a[i] + s * c[i] over 1e7 elements on 192 Gflop/s and 40 GB/s."""
    flops, moved = 2e7, 3 * 8e7
    assert loop_seconds(flops, moved, 192e9, 40e9) == pytest.approx(6.0e-3)
    assert loop_seconds(flops, 0.0, 192e9, 40e9) == pytest.approx(104e-6, rel=2e-3)
    assert attainable(flops / moved, 40e9, 192e9) == pytest.approx(flops / 6.0e-3)


@pytest.mark.parametrize("per_row", [1, 5, 10, 100])
def test_paper_intensity_of_square_csr(per_row):
    rows = 1000
    found = csr_intensity(per_row * rows, rows, rows)
    assert found == pytest.approx(1.0 / (6.0 + 10.0 / per_row + 4.0 / per_row))


def test_paper_limits():
    """1/6 flop/byte for long rows, hence 500 Gflop/s at 3 TB/s; worse without any reuse."""
    intensity = csr_intensity(10**9, 1, 1)
    assert intensity == pytest.approx(1.0 / 6.0, rel=1e-6)
    assert attainable(intensity, 3e12, 34e12) == pytest.approx(500e9, rel=1e-6)
    assert csr_intensity(10**9, 1, 1, alpha=1.0) == pytest.approx(1.0 / 10.0, rel=1e-6)
    assert csr_intensity(0, 0, 0) == 0.0


def test_alpha_of_its_least_value_is_the_default():
    least = csr_intensity(500, 100, 80, alpha=80 / 500)
    assert least == pytest.approx(csr_intensity(500, 100, 80))


def test_csr_traffic_is_the_papers_with_a_product_that_is_written_only():
    figures = figures_of("large")
    traffic = product_traffic(figures, "csr")
    m, n, nnz = 3000, 2000, figures.nonzeros
    assert traffic.bytes == 12 * nnz + 12 * m + 4 + 8 * n
    assert traffic.intensity == pytest.approx(csr_intensity(nnz, m, n, accumulate=False), rel=1e-4)


@each(which=NAMES)
@given(any_matrix())
@settings(max_examples=20)
def test_predictions_are_of_the_matrix_built(which):
    matrix = from_scipy(matrix_of(which), cpu())
    figures = matrix_statistics(matrix)
    for candidate in candidates(figures, H200):
        assert build(matrix, candidate.format).format == candidate.format
    assert product_traffic(figures, "csr").matrix_bytes == matrix.bytes
    sell = to_sell(matrix)
    assert figures.sell_entries == sell.values.size
    assert abs(product_traffic(figures, "sell").matrix_bytes - sell.bytes) <= 4


def test_statistics_of_known_rows():
    figures = matrix_statistics(from_scipy(of_row_lengths([0, 1, 3, 4], 50, 1), cpu()))
    assert (figures.shortest, figures.longest, figures.mean) == (0, 4, 2.0)
    assert figures.ell_entries == 16
    assert figures.ell_padding == 0.5
    assert figures.sell_entries == 128


def test_gathers_of_neighbours_cost_a_quarter_and_of_strangers_one():
    dense = sp.csr_array(np.ones((64, 64)))
    figures = matrix_statistics(from_scipy(dense, cpu()))
    assert figures.row_sectors == 0.25
    assert figures.slice_sectors == 1 / 32, "32 rows gather the same element"
    apart = sp.csr_array((np.ones(64), np.arange(64) * 8, np.arange(65)), shape=(64, 512))
    assert matrix_statistics(from_scipy(apart, cpu())).row_sectors == 1.0
    diagonal = matrix_statistics(from_scipy(sp.csr_array(sp.eye_array(64)), cpu()))
    assert (diagonal.row_sectors, diagonal.slice_sectors) == (0.25, 0.25)


def test_sectors_counted_one_by_one_agree():
    matrix = MATRICES["square 257"]
    whole = matrix.indices[: matrix.nnz // 32 * 32].reshape(-1, 32) // 4
    counted = sum(len(set(group)) for group in whole.tolist()) / whole.size
    assert figures_of("square 257").row_sectors == pytest.approx(counted)


@pytest.mark.parametrize(
    ("change", "limit"),
    [
        ({}, "launch"),
        ({"nonzeros": 10**9}, "memory"),
        ({"nonzeros": 3 * 10**6, "row_sectors": 0.0}, "cache"),
        ({"nonzeros": 10**9, "row_sectors": 1.0}, "gathers"),
    ],
)
def test_what_limits_a_product(change, limit):
    figures = replace(figures_of("large"), row_sectors=0.03)
    found = predict(product_traffic(replace(figures, **change), "csr"), H200)
    assert found.limit == limit


def test_prediction_from_memory_is_bytes_over_bandwidth():
    figures = replace(figures_of("large"), nonzeros=10**9, row_sectors=0.0)
    traffic = product_traffic(figures, "csr")
    assert predict(traffic, H200).seconds == traffic.bytes / 4.3e12


def test_a_very_long_row_rules_out_one_thread_for_it():
    known = candidates(figures_of("long row"), H200)
    assert known[0].format in ("csr", "coo")
    assert {c.prediction.limit for c in known if c.format == "sell"} == {"longest row"}
    assert not any(c.format == "ell" for c in known), "it would be padding nearly all"


def test_survey_gives_a_time_and_a_share_fastest_first():
    found = survey(from_scipy(MATRICES["some"], cpu()), cpu(), H200)
    assert {one.format for one in found} == {"csr", "coo", "ell", "sell"}
    assert 0.0 < found[0].seconds <= found[-1].seconds < np.inf
    assert found[0].roofline_share == found[0].prediction.seconds / found[0].seconds


def test_stream_read_sums_what_it_says():
    source, sums = np.arange(10.0), np.zeros(4)
    BANDWIDTH["stream_read"](4, 10, 5, source, sums)
    expected = [sum(source[(i + r * 4) % 10] for r in range(5)) for i in range(4)]
    assert list(sums) == expected
    whole = np.zeros(2, dtype=np.int64)
    BANDWIDTH.twin.read_fast(2, 5, 1, np.arange(10), whole, 1)
    assert list(whole) == [10, 35]
