"""Device code of the sparse layer against its twins and against SciPy, on a GPU."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from solvers.core.device import Device, cpu, find_device
from solvers.core.errors import EngineError
from solvers.papers.sparse_formats.choose import candidates, choose, library_call
from solvers.papers.sparse_formats.convert import from_scipy, to_coo, to_scipy, transposed
from solvers.papers.sparse_formats.formats import multiply, prepared
from solvers.papers.sparse_formats.kernels.bandwidth import BANDWIDTH
from solvers.papers.sparse_formats.machine import measure_machine
from solvers.papers.sparse_formats.schedule import share_rows
from solvers.papers.sparse_formats.statistics import matrix_statistics
from tests.papers.sparse_formats.forms import FORMS, made, names_of
from tests.papers.sparse_formats.matrices import MATRICES, NAMES, vector_for
from tests.papers.sparse_formats.test_convert import same

pytestmark = pytest.mark.gpu

CLOSE = {"rtol": 1e-11, "atol": 1e-11}
POISON = -7.25


@pytest.fixture(scope="module")
def gpu() -> Device:
    return find_device("cuda")


def product_on(gpu: Device, matrix, vector: np.ndarray) -> np.ndarray:
    """Multiply on the GPU into a poisoned array."""
    product = gpu.to_device(np.full(matrix.rows, POISON))
    multiply(matrix, gpu.to_device(vector), product)
    return gpu.to_host(product)


@pytest.mark.parametrize("form", FORMS)
def test_device_twin_and_repeated_launches_agree_and_conversions_are_those_on_the_host(gpu, form):
    for name in names_of(form):
        matrix, there = MATRICES[name], made(form, MATRICES[name], gpu)
        vector = vector_for(matrix.shape[1])
        first, twin = product_on(gpu, there, vector), multiply(made(form, matrix), vector)
        np.testing.assert_allclose(first, twin, err_msg=name, **CLOSE)
        for _ in range(5):
            assert np.array_equal(product_on(gpu, there, vector), first), name
        assert same(to_scipy(there), matrix), name


@pytest.mark.parametrize("name", NAMES)
def test_transposed_product(gpu, name):
    matrix = MATRICES[name]
    vector = vector_for(matrix.shape[0])
    there = product_on(gpu, transposed(from_scipy(matrix, gpu)), vector)
    np.testing.assert_allclose(there, matrix.T @ vector, **CLOSE)


@pytest.mark.parametrize("form", FORMS)
def test_long_indices_give_the_same_bits(gpu, form):
    matrix = MATRICES["of ones"]
    vector = vector_for(matrix.shape[1])
    narrow = product_on(gpu, made(form, matrix, gpu), vector)
    wide = product_on(gpu, made(form, matrix, gpu, index_type=np.int64), vector)
    assert np.array_equal(narrow, wide)


@pytest.mark.parametrize("form", FORMS)
def test_infinite_elements_reach_only_their_rows(gpu, form):
    matrix = MATRICES["of ones"]
    vector = np.ones(matrix.shape[1])
    vector[0] = np.inf
    reached = np.diff(matrix[:, [0]].tocsr().indptr) > 0
    found = product_on(gpu, made(form, matrix, gpu), vector)
    assert np.array_equal(~np.isfinite(found), reached)


@pytest.mark.parametrize("name", NAMES)
def test_schedule_and_statistics_are_the_same_on_both(gpu, name):
    here, there = from_scipy(MATRICES[name], cpu()), from_scipy(MATRICES[name], gpu)
    expected, found = share_rows(here.starts), there.schedule
    assert expected.ends == found.ends
    for one, other in (
        (expected.order, found.order),
        (expected.chunk_rows, found.chunk_rows),
        (expected.chunk_firsts, found.chunk_firsts),
    ):
        assert np.array_equal(one, gpu.to_host(other))
    figures, others = asdict(matrix_statistics(here)), asdict(matrix_statistics(there))
    for field, value in figures.items():
        close = value if value is None else pytest.approx(value, rel=1e-12)
        assert others[field] == close, field


@pytest.mark.parametrize("chunk", [32, 64, 4096])
def test_coo_of_any_chunk(gpu, chunk):
    source = MATRICES["mixed rows"]
    matrix = to_coo(from_scipy(source, gpu), chunk=chunk)
    vector = vector_for(source.shape[1])
    np.testing.assert_allclose(product_on(gpu, matrix, vector), source @ vector, **CLOSE)


def test_products_can_be_recorded_and_replayed(gpu):
    source = MATRICES["mixed rows"]
    cupy = gpu.xp
    for form in ("csr", "coo", "ell", "sell", "csr short", "sell short"):
        if "mixed rows" not in names_of(form):
            continue
        matrix = made(form, source, gpu)
        vector = gpu.to_device(vector_for(matrix.columns, 1))
        product = multiply(matrix, vector)
        cupy.cuda.Device().synchronize()
        run = prepared(matrix, vector, product)
        with cupy.cuda.Stream(non_blocking=True) as stream:
            stream.begin_capture()
            multiply(matrix, vector, product)
            run()
            graph = stream.end_capture()
            product[...] = POISON
            vector[...] = gpu.to_device(vector_for(matrix.columns, 2))
            graph.launch(stream)
            stream.synchronize()
            expected = source @ vector_for(matrix.columns, 2)
            np.testing.assert_allclose(gpu.to_host(product), expected, **CLOSE)


def test_vector_of_the_other_device_is_told(gpu):
    matrix = from_scipy(MATRICES["of ones"], gpu)
    with pytest.raises(EngineError, match="vector is an array of numpy and the matrix of cupy"):
        multiply(matrix, np.zeros(matrix.columns))


def test_stream_read_agrees_with_its_twin(gpu):
    source = vector_for(1000)
    for readers, repeats in ((1, 7), (257, 9), (1000, 3)):
        here = np.full(readers, POISON)
        there = gpu.to_device(here)
        BANDWIDTH["stream_read"](readers, 1000, repeats, source, here)
        BANDWIDTH["stream_read"](readers, 1000, repeats, gpu.to_device(source), there)
        np.testing.assert_allclose(gpu.to_host(there), here, **CLOSE)


def test_machine_has_plausible_roofs(gpu):
    machine = measure_machine(gpu)
    assert machine.cache_bandwidth > machine.memory_bandwidth > 1e11
    assert machine.cache_bytes > 2**20
    assert 1e-7 < machine.launch_seconds < 1e-4


@pytest.mark.parametrize("name", ["large", "of ones", "long row", "no entries"])
def test_choice_is_the_matrix_and_never_slower_than_plain_csr(gpu, name):
    found = choose(from_scipy(MATRICES[name], gpu), gpu)
    assert same(to_scipy(found.matrix), MATRICES[name])
    timed = [c for c in found.candidates if c.seconds is not None]
    assert found.chosen.seconds == min(c.seconds for c in timed)
    assert any(c.format == "csr" and not (c.values or c.columns) for c in timed)
    assert (found.library_seconds is None) == (MATRICES[name].nnz == 0)


def test_every_candidate_has_a_prediction_on_this_machine(gpu):
    figures = matrix_statistics(from_scipy(MATRICES["large"], gpu))
    assert all(c.prediction.seconds > 0.0 for c in candidates(figures, measure_machine(gpu)))


def test_library_call_is_the_product(gpu):
    source = MATRICES["large"]
    call = library_call(gpu, from_scipy(source, gpu))
    expected = source @ np.ones(source.shape[1])
    np.testing.assert_allclose(gpu.to_host(call()), expected, **CLOSE)
