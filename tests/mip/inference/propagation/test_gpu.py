"""Kernels of propagation and dives on a GPU do what their twins do, launch by launch and whole."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import Device, cpu, find_device
from solvers.kernels.family import Family
from solvers.mip.heuristics.diving.batched import Root, Steps, portfolio
from solvers.mip.inference.propagation import ALL, BatchBoxes, DeviceModel
from solvers.mip.inference.propagation.kernels.batch import BATCH, LANES
from solvers.mip.inference.propagation.kernels.dive import Amount, Driver
from tests.mip.inference.propagation.models import AWKWARD, random_model
from tests.mip.inference.propagation.test_boxes import random_items

pytestmark = pytest.mark.gpu

MODELS = {
    **AWKWARD,
    **{
        f"random {m}x{n} {kind}": lambda m=m, n=n, kind=kind: random_model(
            m + n, m, n, mixed=kind == "mixed", density=min(1.0, 12 / n)
        )[0]
        for m, n in ((1, 1), (31, 33), (257, 400), (900, 1500))
        for kind in ("whole", "mixed")
    },
}


@pytest.fixture(scope="module")
def gpu() -> Device:
    return find_device("cuda")


@pytest.fixture(autouse=True)
def own_stream(gpu):
    with gpu.activate():
        yield


def launch(gpu: Device, family: Family, name: str, arguments: tuple) -> tuple[list, list]:
    """Run a kernel and its twin on copies of the arguments; return the arrays of both."""
    copies = [v.copy() if isinstance(v, np.ndarray) else v for v in arguments]
    there = [gpu.to_device(v) if isinstance(v, np.ndarray) else v for v in arguments]
    family[name](*copies)
    family[name](*there)
    gpu.synchronize()
    arrays = [k for k, v in enumerate(arguments) if isinstance(v, np.ndarray)]
    return [copies[k] for k in arrays], [gpu.to_host(there[k]) for k in arrays]


def loaded(model, device) -> BatchBoxes:
    boxes = BatchBoxes(DeviceModel.of(model, device))
    boxes.load(model.lower, model.upper)
    boxes.wake()
    lane, column, value = random_items(model, 7, 200)
    boxes.tighten(lane, column, value, value)
    return boxes


def assert_same_boxes(one: BatchBoxes, other: BatchBoxes, lanes: int = ALL) -> None:
    for here, there in zip(one.bounds(lanes), other.bounds(lanes), strict=True):
        np.testing.assert_array_equal(there, here)


@pytest.mark.parametrize("name", MODELS)
def test_batch_has_the_bits_of_the_cpu(name, gpu):
    model = MODELS[name]()
    here, there = loaded(model, cpu()), loaded(model, gpu)
    expected, found = here.propagate(), there.propagate()
    assert found == expected
    assert_same_boxes(here, there, ALL & ~expected.dead)
    here.save()
    there.save()
    lane, column, value = random_items(model, 8, 200)
    for boxes in (here, there):
        boxes.tighten(lane, column, value, value)
    expected, found = here.propagate(), there.propagate()
    assert found == expected
    for boxes in (here, there):
        boxes.restore(expected.dead)
    assert_same_boxes(here, there)
    source = np.random.default_rng(1).integers(-1, LANES, LANES)
    for boxes in (here, there):
        boxes.adopt(source)
    assert_same_boxes(here, there)
    assert found == expected


@pytest.mark.parametrize("name", MODELS)
def test_round_of_a_batch_equals_its_twins(name, gpu):
    model = MODELS[name]()
    boxes = loaded(model, cpu())
    columns, rows = boxes.arguments()
    for parity in (0, 1, 0, 1):
        for kernel, arguments in (("batch_columns", columns), ("batch_rows", rows)):
            declared = [a.name for a in BATCH.kernels[kernel].arguments if a.kind.endswith("[]")]
            expected, found = launch(gpu, BATCH, kernel, (parity, *arguments))
            for argument, one, other in zip(declared, expected, found, strict=True):
                if not argument.endswith("_list"):  # the order within lists is free
                    message = f"{kernel} {parity}: {argument}"
                    np.testing.assert_array_equal(other, one, err_msg=message)
            BATCH[kernel](parity, *arguments)


@pytest.mark.parametrize("name", MODELS)
def test_steps_of_a_dive_equal_their_twins(name, gpu):

    model = MODELS[name]()
    random = np.random.default_rng(2)
    wish = np.where(np.isfinite(model.lower), model.lower, 0.0) + random.random(model.num_columns)
    root = Root(model, np.stack([model.lower, model.upper]), wish)
    order = random.permutation(root.integers).astype(np.int32)
    lanes = portfolio(root, random)
    both = []
    for device in (cpu(), gpu):
        boxes = BatchBoxes(DeviceModel.of(model, device))
        boxes.load(model.lower, model.upper)
        steps = Steps(boxes, root)
        steps.begin(order, lanes)
        both.append((boxes, steps))
    for most, amount in (
        *((1000, Amount.WHOLE), (1000, Amount.HALF)),
        *((3, Amount.OTHER), (1000, Amount.WHOLE)),
    ):
        seen = []
        for boxes, steps in both:
            steps.select(most)
            steps.fix(ALL & ~0b1000, amount)
            verdict = boxes.propagate()
            seen.append((verdict, *boxes.read_control()[[Driver.CURSOR, Driver.BULK]]))
        assert seen[1] == seen[0]
        assert_same_boxes(both[0][0], both[1][0], ALL & ~seen[0][0].dead)
