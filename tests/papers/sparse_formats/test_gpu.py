"""Device code of the sparse layer against its twins and against SciPy, on a GPU."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from solvers.core.device import Device, cpu, find_device
from solvers.core.errors import EngineError
from solvers.papers.sparse_formats.formats import from_scipy, multiply, prepared, transposed
from solvers.papers.sparse_formats.kernels.bandwidth import BANDWIDTH
from solvers.papers.sparse_formats.machine import measure_machine
from solvers.papers.sparse_formats.roofline import library_call, matrix_statistics, survey
from tests.papers.sparse_formats.matrices import FORMS, MATRICES, NAMES, forms_of, vector_for

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


@pytest.mark.parametrize("name", NAMES)
def test_device_twin_and_repeated_launches_agree(gpu, name):
    matrix = MATRICES[name]
    vector = vector_for(matrix.shape[1])
    twins = forms_of(from_scipy(matrix, cpu()))
    for form, twin in twins.items():
        there = FORMS[form](from_scipy(matrix, gpu))
        first = product_on(gpu, there, vector)
        np.testing.assert_allclose(first, multiply(twin, vector), err_msg=form, **CLOSE)
        for _ in range(5):
            assert np.array_equal(product_on(gpu, there, vector), first), form


@pytest.mark.parametrize("name", NAMES)
def test_transposed_product(gpu, name):
    matrix = MATRICES[name]
    vector = vector_for(matrix.shape[0])
    there = product_on(gpu, transposed(from_scipy(matrix, gpu)), vector)
    np.testing.assert_allclose(there, matrix.T @ vector, **CLOSE)


@pytest.mark.parametrize("form", FORMS)
def test_infinite_elements_reach_only_their_rows(gpu, form):
    matrix = MATRICES["some"]
    vector = np.ones(matrix.shape[1])
    vector[0] = np.inf
    reached = np.diff(matrix[:, [0]].tocsr().indptr) > 0
    found = product_on(gpu, FORMS[form](from_scipy(matrix, gpu)), vector)
    assert np.array_equal(~np.isfinite(found), reached)


@pytest.mark.parametrize("name", NAMES)
def test_sharing_and_statistics_are_the_same_on_both(gpu, name):
    here, there = from_scipy(MATRICES[name], cpu()), from_scipy(MATRICES[name], gpu)
    expected, found = here.shared, there.shared
    assert (expected.lanes, expected.chunk) == (found.lanes, found.chunk)
    assert np.array_equal(expected.chunk_rows, gpu.to_host(found.chunk_rows))
    figures, others = asdict(matrix_statistics(here)), asdict(matrix_statistics(there))
    for field, value in figures.items():
        assert others[field] == pytest.approx(value, rel=1e-12), field


def test_products_can_be_recorded_and_replayed(gpu):
    source = MATRICES["some"]
    cupy = gpu.xp
    for form in FORMS.values():
        matrix = form(from_scipy(source, gpu))
        vector = gpu.to_device(vector_for(matrix.columns, 1))
        product = multiply(matrix, vector)
        cupy.cuda.Device().synchronize()
        run = prepared(matrix, vector, product)
        with cupy.cuda.Stream(non_blocking=True) as stream:
            stream.begin_capture()
            run()
            graph = stream.end_capture()
            product[...] = POISON
            vector[...] = gpu.to_device(vector_for(matrix.columns, 2))
            graph.launch(stream)
            stream.synchronize()
            expected = source @ vector_for(matrix.columns, 2)
            np.testing.assert_allclose(gpu.to_host(product), expected, **CLOSE)


def test_vector_of_the_other_device_is_told(gpu):
    matrix = from_scipy(MATRICES["some"], gpu)
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


def test_each_roof_of_the_machine_is_found_and_each_format_timed(gpu):
    machine = measure_machine(gpu)
    roofs = machine.cache_bandwidth, machine.memory_bandwidth, machine.launch_seconds
    assert np.isfinite(roofs).all()
    assert min(roofs) > 0.0
    assert machine.cache_bytes > 2**20
    found = survey(from_scipy(MATRICES["large"], gpu), gpu, machine)
    assert "csr" in {one.format for one in found}
    for one in found:
        assert np.isfinite([one.prediction.seconds, one.seconds]).all(), one.format
        assert min(one.prediction.seconds, one.seconds) > 0.0, one.format


def test_library_call_is_the_product(gpu):
    source = MATRICES["large"]
    call = library_call(gpu, from_scipy(source, gpu))
    expected = source @ np.ones(source.shape[1])
    np.testing.assert_allclose(gpu.to_host(call()), expected, **CLOSE)
