"""Where an engine runs: the CPU, or a CUDA GPU through CuPy.

Importing this module costs nothing: no CuPy, no CUDA context. Whether there is a GPU at all is
asked of the driver library alone, which makes no context either; CuPy is imported only when a
GPU is going to be used.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import platform
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.errors import DeviceError
from solvers.core.process_state import Slot
from solvers.core.threads import start_thread
from solvers.core.transfers import PIECE, fetch, overwrite, put_back, send

CUDA_13 = 13000
"""Driver interface version from which the CUDA 13 build of CuPy is the right one."""

ALL_GPUS = "cuda:all"
"""What stands for all visible GPUs."""

_NUMBERED = re.compile(r"cuda:[0-9]+(,[0-9]+)*")

FIRST = -5
"""Priority of a stream whose work goes first; CUDA takes the nearest that a GPU has."""

CUDA_OUT_OF_MEMORY = 2
"""Status of driver and runtime calls that found the memory exhausted."""


@dataclass(frozen=True)
class Device:
    """One place to compute."""

    kind: str
    """'cpu' or 'cuda'."""
    name: str
    """Model of the processor or GPU."""
    memory_total: int = 0
    memory_free: int = 0
    """Bytes; ``memory_free`` is as of the moment of asking, and 0 where that is not known."""
    index: int = 0
    """Number of the GPU among those visible; 0 for the CPU."""
    note: str = ""
    """Why this GPU cannot be used, or empty."""

    def __str__(self) -> str:
        memory = f", {self.memory_total / 2**30:.0f} GiB" if self.memory_total else ""
        return f"{self.kind}: {self.name}{memory}" + (f" ({self.note})" if self.note else "")

    @property
    def xp(self) -> Any:
        """The array module: NumPy or CuPy."""
        if self.kind == "cpu":
            return np
        import cupy

        return cupy

    def attribute(self, name: str) -> int:
        """Return a number of a GPU by CUDA's name; CuPy asks for a hundred to tell one."""
        known, key = _attributes.value, (type(self), self.index)
        if key not in known:
            known[key] = self.xp.cuda.Device(self.index).attributes
        return int(known[key][name])

    def activate(self, is_lost: Callable[[], bool] | None = None) -> AbstractContextManager[Any]:
        """Return a context in which this device and a stream of its own are the current ones.

        At its end the stream is waited for, unless ``is_lost`` says that its work will not end.
        """
        return nullcontext() if self.kind == "cpu" else _OwnStream(self.index, is_lost)

    def activate_first(self) -> AbstractContextManager[Any]:
        """Return the same; its stream's work begins before what others have queued."""
        return nullcontext() if self.kind == "cpu" else _OwnStream(self.index, None, FIRST)

    def to_device(self, array: npt.NDArray[Any]) -> Any:
        """Return a contiguous copy of a host array in this device's memory."""
        if self.kind == "cpu":
            return np.array(array, order="C", copy=True)
        there = np.ascontiguousarray(array)
        return send(self.xp, there) if there.nbytes > 2 * PIECE else self.xp.asarray(there)

    def overwrite(self, target: Any, array: npt.NDArray[Any]) -> None:
        """Overwrite a contiguous array in this device's memory with one of the host."""
        if self.kind == "cpu":
            target[...] = array
        elif array.nbytes > 2 * PIECE:
            overwrite(self.xp, target, np.ascontiguousarray(array))
        else:
            target.set(np.ascontiguousarray(array))

    def to_host(self, array: Any) -> npt.NDArray[Any]:
        """Return an array of this device as a NumPy array; waits for its computation."""
        if self.kind == "cpu":
            return np.array(array, copy=True)
        if array.nbytes > 2 * PIECE and array.flags.c_contiguous:
            found = np.empty(array.shape, dtype=array.dtype)
            fetch(self.xp, array, found)
            return found
        host: npt.NDArray[Any] = self.xp.asnumpy(array)
        return host

    def fetch(
        self, array: Any, found: npt.NDArray[Any], order: npt.NDArray[Any] | None = None
    ) -> None:
        """Copy a contiguous array of this device to such a one of the host; waits likewise.

        With an ``order``, as long as the array, its elements go to these places of ``found``.
        """
        if self.kind != "cpu" and array.nbytes > 2 * PIECE:
            fetch(self.xp, array, found, order)
        elif order is None:
            found[...] = self.to_host(array)
        else:
            put_back(self.to_host(array), order, found)

    def synchronize(self) -> None:
        """Wait until the work queued on the current stream is done."""
        if self.kind == "cuda":
            self.xp.cuda.get_current_stream().synchronize()

    def is_out_of_memory(self, error: BaseException) -> bool:
        """Whether an exception says that this device's memory is exhausted."""
        if isinstance(error, MemoryError):
            return True
        if self.kind == "cpu":
            return False
        if isinstance(error, self.xp.cuda.memory.OutOfMemoryError):
            return True
        from_cupy = type(error).__module__.startswith("cupy")
        return from_cupy and getattr(error, "status", None) == CUDA_OUT_OF_MEMORY

    def release_memory(self) -> None:
        """Give cached device memory back to the driver."""
        if self.kind == "cuda":
            self.xp.get_default_memory_pool().free_all_blocks()


_expected: Slot[set[str]] = Slot("GPUs that are being made ready, or are", set)
_attributes: Slot[dict[tuple[type[Device], int], Mapping[str, int]]] = Slot(
    "what each GPU says of itself", dict
)


class _OwnStream:
    """Makes a GPU and a fresh non-blocking stream current, and puts the old ones back."""

    def __init__(self, index: int, is_lost: Callable[[], bool] | None, priority: int = 0) -> None:
        self._index = index
        self._is_lost = is_lost
        self._priority = priority

    def __enter__(self) -> None:
        import cupy

        self._device = cupy.cuda.Device(self._index)
        self._device.__enter__()
        before = cupy.cuda.get_current_stream()
        self._stream = cupy.cuda.Stream(non_blocking=True, priority=self._priority)
        # what a caller has put on the GPU may still be on its way
        self._stream.wait_event(before.record())
        self._stream.__enter__()

    def __exit__(self, *error: Any) -> None:
        try:
            if self._is_lost is None or not self._is_lost():
                self._stream.synchronize()
        finally:
            self._stream.__exit__(*error)
            self._device.__exit__(*error)


def find_device(wanted: str = "auto") -> Device:
    """Return the device to use.

    Parameters
    ----------
    wanted : {'auto', 'cuda', 'cuda:N', 'cuda:N,M', 'cuda:all', 'cpu'}
        'auto' takes a usable GPU where there is one and the CPU otherwise; 'cuda' is the first
        GPU, 'cuda:1' the second. Of several GPUs it is the first that is named.

    Raises
    ------
    DeviceError
        A GPU was asked for that is not there, or CuPy is missing or does not work with it.
    """
    device = _with_memory(look_for(wanted))
    if device.note and wanted != "auto":
        raise DeviceError(f"The GPU '{device.name}' cannot be used: {device.note}.")
    return cpu() if device.note else device


def find_devices(wanted: str) -> tuple[Device, ...]:
    """Return all devices that are meant: one, or the GPUs of 'cuda:0,1' or 'cuda:all'.

    Raises
    ------
    DeviceError
        As :func:`find_device` does.
    """
    if not names_several(wanted):
        return (find_device(wanted),)
    return tuple(find_device(f"cuda:{index}") for index in gpu_numbers(wanted))


def names_several(wanted: str) -> bool:
    """Whether GPUs are asked for together; there may be one only."""
    return "," in wanted or wanted == ALL_GPUS


def gpu_numbers(wanted: str) -> tuple[int, ...]:
    """Return the numbers of the GPUs that are meant, by what the driver says."""
    return _indices(wanted, len(_gpus()))


def look_for(wanted: str) -> Device:
    """Return the device that is meant, by what the driver says and without loading CuPy.

    Its free memory is not known, and CuPy may still find that it does not work. A GPU that cannot
    be used is returned for 'auto' with the note that says why.

    Raises
    ------
    DeviceError
        A GPU was asked for that is not there, or CuPy is missing.
    """
    if wanted == "cpu":
        return cpu()
    if wanted not in ("auto", "cuda", ALL_GPUS) and not _NUMBERED.fullmatch(wanted):
        raise DeviceError(
            f"There is no device '{wanted}'; use 'auto', 'cuda', 'cuda:1', 'cuda:0,1', 'cuda:all' "
            "or 'cpu'."
        )
    seen = _gpus()
    if not seen:
        if wanted == "auto":
            return cpu()
        raise DeviceError(
            f"device='{wanted}' was asked for, but no NVIDIA GPU is visible here: the driver "
            "library is missing, or CUDA_VISIBLE_DEVICES hides the GPU. Use device='cpu' or 'auto'."
        )
    indices = _indices(wanted, len(seen))
    if max(indices) >= len(seen):
        raise DeviceError(
            f"device='{wanted}' was asked for, but the last of the visible GPUs is "
            f"'cuda:{len(seen) - 1}'."
        )
    if len(set(indices)) < len(indices):
        raise DeviceError(f"device='{wanted}' names a GPU twice; name each once.")
    device = seen[indices[0]]
    if device.note and wanted != "auto":
        raise DeviceError(f"The GPU '{device.name}' cannot be used: {device.note}.")
    return device


def _indices(wanted: str, seen: int) -> tuple[int, ...]:
    """Return the numbers of the GPUs that are meant."""
    if wanted == ALL_GPUS:
        return tuple(range(seen))
    return tuple(int(number) for number in (wanted.partition(":")[2] or "0").split(","))


def expect(wanted: str) -> None:
    """Load CuPy and make a GPU's context in threads, beside whatever comes before its use.

    The driver takes two tenths of a second for its start and the context, which CuPy is going to
    use, too, and which lives as long as the process; CuPy's import takes as long, and more beside
    other imports. Where either fails, who needs the GPU finds out as ever.

    Parameters
    ----------
    wanted : str
        As for :func:`find_device`; with 'auto' nothing is loaded where no GPU is usable.
    """
    if wanted == "cpu" or wanted in _expected.value:
        return
    _expected.value.add(wanted)

    def make_context() -> None:
        device, driver = look_for(wanted), _driver()
        handle, context = ctypes.c_int(), ctypes.c_void_p()
        if driver is None or device.kind != "cuda" or device.note:
            return
        if driver.cuDeviceGet(ctypes.byref(handle), device.index) == 0:
            driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), handle)

    def load_cupy() -> None:
        if _driver() is None or (wanted == "auto" and seen_gpu() is None):
            return
        import cupy

        with cupy.cuda.Device(look_for(wanted).index):
            cupy.empty(1)

    start_thread("gpu context", make_context, lambda failure: None)
    start_thread("gpu", load_cupy, lambda failure: None)


def seen_gpu() -> Device | None:
    """Return the first GPU that the driver shows and CuPy may drive, without loading CuPy.

    Its free memory is not known, and CuPy may still find that it does not work.
    """
    return next((device for device in _gpus() if not device.note), None)


def list_devices() -> tuple[Device, ...]:
    """Return the CPU and every GPU seen, each unusable one with a note that says why."""
    return (cpu(), *(_with_memory(device) for device in _gpus()))


@lru_cache(maxsize=1)
def _cpu_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        return platform.processor() or platform.machine()
    return platform.processor() or platform.machine()


def cpu() -> Device:
    """Return the CPU as a device."""
    total = _memory_pages("SC_PHYS_PAGES")
    free = _memory_pages("SC_AVPHYS_PAGES")
    return Device("cpu", f"{_cpu_name()}, {os.cpu_count() or 1} cores", total, free)


def _memory_pages(name: str) -> int:
    if name not in getattr(os, "sysconf_names", {}):
        return 0
    return max(0, os.sysconf(name)) * os.sysconf("SC_PAGE_SIZE")


def _gpus() -> tuple[Device, ...]:
    """Return the visible GPUs by name, asking the driver without making a context."""
    if os.environ.get("CUDA_VISIBLE_DEVICES", "0").strip() in ("", "-1"):
        return ()
    return _driver_gpus()


@lru_cache(maxsize=1)
def _driver_gpus() -> tuple[Device, ...]:
    driver = _driver()
    if driver is None:
        return ()
    count = ctypes.c_int()
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return ()
    note = _why_unusable(driver)
    found = []
    for index in range(count.value):
        name = ctypes.create_string_buffer(256)
        total = ctypes.c_size_t()
        handle = ctypes.c_int()
        driver.cuDeviceGet(ctypes.byref(handle), index)
        driver.cuDeviceGetName(name, len(name), handle)
        driver.cuDeviceTotalMem_v2(ctypes.byref(total), handle)
        label = name.value.decode(errors="replace")
        found.append(Device("cuda", label, total.value, 0, index, note))
    return tuple(found)


def _driver() -> ctypes.CDLL | None:
    for name in ("libcuda.so.1", "nvcuda.dll"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def _why_unusable(driver: ctypes.CDLL) -> str:
    if importlib.util.find_spec("cupy") is not None:
        return ""
    version = ctypes.c_int()
    driver.cuDriverGetVersion(ctypes.byref(version))
    extra = "cuda13" if version.value >= CUDA_13 else "cuda12"
    return f'CuPy is not installed; run: pip install "gpu-bridge[{extra}]"'


def _with_memory(device: Device) -> Device:
    """Return the GPU with its free memory, or with a note where CuPy cannot drive it."""
    if device.note or device.kind == "cpu":
        return device
    from dataclasses import replace

    try:
        import cupy

        free, total = cupy.cuda.Device(device.index).mem_info
    except Exception as error:  # CuPy raises many types; each one means "not usable"
        return replace(device, note=f"CuPy does not work with it: {error}")
    return replace(device, memory_total=int(total), memory_free=int(free))
