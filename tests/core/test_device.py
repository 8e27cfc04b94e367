"""Finding and describing devices, with and without a GPU driver."""

from __future__ import annotations

import ctypes
import sys
import threading
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from solvers.core import device as module
from solvers.core.device import Device, cpu, find_device, list_devices, seen_gpu
from solvers.core.errors import DeviceError

GPU = Device("cuda", "Some GPU", 8 * 2**30)


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(module, "_gpus", lambda: ())


@pytest.fixture
def gpu_without_cupy(monkeypatch):
    noted = replace(GPU, note='CuPy is not installed; run: pip install "gpu-bridge[cuda13]"')
    monkeypatch.setattr(module, "_gpus", lambda: (noted,))


def test_cpu_is_described():
    device = find_device("cpu")
    assert device.kind == "cpu"
    assert device.name
    assert device.memory_total > device.memory_free >= 0
    assert device.xp is np


def test_cuda_without_a_gpu_says_what_to_do(no_gpu):
    with pytest.raises(DeviceError, match="device='cpu'"):
        find_device("cuda")


def test_auto_without_a_gpu_is_the_cpu(no_gpu):
    assert find_device("auto").kind == "cpu"
    assert [device.kind for device in list_devices()] == ["cpu"]


def test_cuda_without_cupy_says_what_to_install(gpu_without_cupy):
    with pytest.raises(DeviceError, match=r"gpu-bridge\[cuda13\]"):
        find_device("cuda")


def test_a_gpu_can_be_named_by_its_number(monkeypatch):
    seen = (GPU, replace(GPU, name="Another GPU", index=1))
    monkeypatch.setattr(module, "_gpus", lambda: seen)
    monkeypatch.setattr(module, "_with_memory", lambda device: device)
    assert find_device("cuda").index == 0
    assert find_device("cuda:0").index == 0
    assert find_device("cuda:1").name == "Another GPU"
    with pytest.raises(DeviceError, match=r"'cuda:2'.*last.*'cuda:1'"):
        find_device("cuda:2")
    for wrong in ("cuda:", "cuda:x", "cuda:-1", "auto:1", "cpu:0", "gpu"):
        with pytest.raises(DeviceError, match=f"no device '{wrong}'"):
            find_device(wrong)


def test_a_gpu_is_seen_without_loading_cupy(monkeypatch):
    monkeypatch.setattr(module, "_gpus", lambda: (replace(GPU, note="no CuPy"), GPU))
    monkeypatch.setattr(module, "_with_memory", None)  # would load it
    assert seen_gpu() == GPU
    monkeypatch.setattr(module, "_gpus", lambda: (replace(GPU, note="no CuPy"),))
    assert seen_gpu() is None


def test_auto_without_cupy_is_the_cpu(gpu_without_cupy):
    assert find_device("auto").kind == "cpu"


def test_unusable_gpu_is_listed_with_its_reason(gpu_without_cupy):
    devices = list_devices()
    assert [device.kind for device in devices] == ["cpu", "cuda"]
    assert "CuPy is not installed" in str(devices[1])


def test_unknown_device_is_refused():
    with pytest.raises(DeviceError, match="tpu"):
        find_device("tpu")


@pytest.mark.parametrize("hidden", ["", "-1", " "])
def test_hidden_gpus_are_not_asked_for(monkeypatch, hidden):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
    monkeypatch.setattr(module, "_driver_gpus", lambda: pytest.fail("the driver was asked"))
    assert find_device("auto").kind == "cpu"


class FakeDriver:
    """A driver library with one GPU and a given interface version."""

    def __init__(self, version: int, init: int = 0) -> None:
        self.version, self.init = version, init

    def cuInit(self, flags):  # noqa: N802
        return self.init

    def cuDeviceGetCount(self, count):  # noqa: N802
        count._obj.value = 1
        return 0

    def cuDeviceGet(self, handle, index):  # noqa: N802
        handle._obj.value = index
        return 0

    def cuDeviceGetName(self, name, size, handle):  # noqa: N802
        ctypes.memmove(name, b"Some GPU\0", 9)
        return 0

    def cuDeviceTotalMem_v2(self, total, handle):  # noqa: N802
        total._obj.value = 8 * 2**30
        return 0

    def cuDriverGetVersion(self, version):  # noqa: N802
        version._obj.value = self.version
        return 0


@pytest.mark.parametrize(("version", "extra"), [(12040, "cuda12"), (13000, "cuda13")])
def test_driver_tells_name_memory_and_the_fitting_extra(monkeypatch, version, extra):
    monkeypatch.setattr(module, "_driver", lambda: FakeDriver(version))
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    (device,) = module._driver_gpus.__wrapped__()
    assert (device.name, device.memory_total) == ("Some GPU", 8 * 2**30)
    assert extra in device.note


def test_a_context_is_made_while_cupy_is_loaded(monkeypatch):
    made, loaded = threading.Event(), threading.Event()

    class Driver(FakeDriver):
        def cuDevicePrimaryCtxRetain(self, context, handle):  # noqa: N802
            if handle.value == 7:
                made.set()
            return 0

    @contextmanager
    def device(index):
        if index == 7 and made.wait(10.0):  # as slow as it has to be
            yield

    cupy = SimpleNamespace(cuda=SimpleNamespace(Device=device), empty=lambda size: loaded.set())
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(module, "_driver", lambda: Driver(13000))
    monkeypatch.setattr(module, "_gpus", lambda: tuple(replace(GPU, index=k) for k in range(8)))
    module.expect("cuda:7")
    module._expected.value.discard("cuda:7")
    assert loaded.wait(10.0)


def test_driver_that_does_not_start_means_no_gpu(monkeypatch):
    monkeypatch.setattr(module, "_driver", lambda: FakeDriver(13000, init=100))
    assert module._driver_gpus.__wrapped__() == ()


def test_copies_to_and_from_the_cpu_are_copies():
    device, array = cpu(), np.arange(6.0).reshape(2, 3)[:, ::2]
    there = device.to_device(array)
    assert there.flags.c_contiguous
    there[...] = 0.0
    assert array.max() == 5.0
    back = device.to_host(there)
    back[...] = 1.0
    assert there.max() == 0.0


def test_out_of_memory_is_recognised():
    assert cpu().is_out_of_memory(MemoryError())
    assert not cpu().is_out_of_memory(ValueError())


@pytest.mark.gpu
def test_gpu_is_described():
    device = find_device("cuda")
    assert device.kind == "cuda"
    assert device.memory_total >= device.memory_free > 0
    with device.activate():
        there = device.to_device(np.arange(5.0))
        assert device.to_host(there * 2).tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]


def test_a_stream_that_goes_first_has_a_higher_priority(monkeypatch):
    priorities = []

    class Stream:
        def __init__(self, *, non_blocking, priority):
            assert non_blocking
            priorities.append(priority)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def wait_event(self, event):
            pass

        def synchronize(self):
            pass

    before = SimpleNamespace(record=lambda: None)
    cuda = SimpleNamespace(
        Device=lambda index: nullcontext(), Stream=Stream, get_current_stream=lambda: before
    )
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
    for activated in (GPU.activate(), GPU.activate_first()):
        with activated:
            pass
    assert priorities == [0, module.FIRST]
    assert module.FIRST < 0
