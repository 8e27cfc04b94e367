"""A GPU that is none: arrays that refuse what CuPy's refuse, so that code for them can be tested.

CuPy's arrays do not mix with NumPy's, and not every call of NumPy's is handed on to them. Neither
do these, which compute on the host.
"""

from __future__ import annotations

import sys
import threading
from contextlib import nullcontext
from itertools import count
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.sparse as sp

from solvers.core.device import Device

_numbers = count(1)

HANDED_ON = {
    *(np.where, np.clip, np.concatenate, np.zeros_like, np.ones_like, np.full_like),
    np.isfinite,
}
"""The functions of NumPy that are called on arrays which may be CuPy's, and that CuPy has."""


def unwrapped(value: Any) -> Any:
    """Return the host's array of what a call was given; TypeError for an array of the host."""
    if isinstance(value, DeviceArray):
        return value.values
    if isinstance(value, (list, tuple)):
        return type(value)(unwrapped(item) for item in value)
    if isinstance(value, np.ndarray) and value.ndim:
        raise TypeError("an array of the host among arrays of the device")
    return value


def wrapped(value: Any) -> Any:
    return DeviceArray(np.asarray(value)) if isinstance(value, (np.ndarray, np.generic)) else value


class DeviceArray:
    """An array on the pretended device."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            raise TypeError(f"{ufunc} {method} {kwargs}")
        return wrapped(ufunc(*map(unwrapped, inputs)))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function not in HANDED_ON:
            raise TypeError(f"{function} is not handed on")
        return wrapped(function(*map(unwrapped, args), **{k: unwrapped(kwargs[k]) for k in kwargs}))

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"data": (self.values.ctypes.data, False)}

    @property
    def size(self) -> int:
        return int(self.values.size)

    def __getitem__(self, key: Any) -> Any:
        return DeviceArray(self.values[key if key is ... else unwrapped(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.values[key if key is ... else unwrapped(key)] = unwrapped(value)

    def copy(self) -> DeviceArray:
        return DeviceArray(self.values.copy())

    def sum(self) -> DeviceArray:
        return DeviceArray(np.asarray(self.values.sum()))

    def max(self) -> DeviceArray:
        return DeviceArray(np.asarray(self.values.max()))

    def min(self) -> DeviceArray:
        return DeviceArray(np.asarray(self.values.min()))

    def __float__(self) -> float:
        return float(self.values)

    def __int__(self) -> int:
        return int(self.values)

    def __bool__(self) -> bool:
        return bool(self.values)


def _operator(name: str) -> Any:
    def apply(self: DeviceArray, *others: Any) -> Any:
        return wrapped(getattr(self.values, name)(*map(unwrapped, others)))

    return apply


for _name in ("add", "sub", "mul", "truediv"):
    setattr(DeviceArray, f"__{_name}__", _operator(f"__{_name}__"))
    setattr(DeviceArray, f"__r{_name}__", _operator(f"__r{_name}__"))
for _name in ("neg", "invert", "lt", "le", "gt", "ge", "ne", "abs"):
    setattr(DeviceArray, f"__{_name}__", _operator(f"__{_name}__"))


class DeviceMatrix:
    """A sparse matrix on the pretended device."""

    def __init__(self, parts: Any, shape: Any = None) -> None:
        if isinstance(parts, tuple):
            parts = sp.csr_array(tuple(unwrapped(part) for part in parts), shape=shape)
        self.matrix, self.shape = parts, parts.shape

    @property
    def data(self) -> DeviceArray:
        return DeviceArray(self.matrix.data)

    @property
    def indices(self) -> DeviceArray:
        return DeviceArray(self.matrix.indices)

    @property
    def T(self) -> DeviceMatrix:  # noqa: N802 (as everybody calls it)
        return DeviceMatrix(self.matrix.T)

    def __matmul__(self, vector: Any) -> Any:
        if not isinstance(vector, DeviceArray):
            raise TypeError("a vector of the host beside a matrix of the device")
        return DeviceArray(self.matrix @ vector.values)


class Stream:
    """A stream, current within itself; the null stream is never gone."""

    null: ClassVar[Stream]
    here: ClassVar[threading.local] = threading.local()

    def __init__(self, ptr: int) -> None:
        self.ptr = ptr

    @classmethod
    def current(cls) -> list[Stream]:
        """Return those of this thread, the current one last."""
        return cls.here.__dict__.setdefault("streams", [cls.null])

    def __enter__(self) -> None:
        self.current().append(self)

    def __exit__(self, *error: Any) -> None:
        self.current().pop()

    def synchronize(self) -> None:
        """Nothing is under way."""


Stream.null = Stream(0)


class CurrentGpu(nullcontext[None]):
    """The GPU of a number, current within itself."""

    mem_info = (10**9, 10**9)

    def __init__(self, index: int = 0) -> None:
        super().__init__()


class PretendedGpu(Device):
    """The device itself, with a stream for each activation."""

    @property
    def xp(self) -> Any:
        pool = SimpleNamespace(free_bytes=lambda: 0)
        cuda = SimpleNamespace(
            get_current_stream=lambda: Stream.current()[-1],
            Device=CurrentGpu,
        )
        return SimpleNamespace(cuda=cuda, get_default_memory_pool=lambda: pool)

    def activate_first(self) -> Any:
        return Stream(next(_numbers))

    def to_device(self, array: Any) -> Any:
        return DeviceArray(np.array(array))

    def to_host(self, array: Any) -> Any:
        return np.array(array.values)

    def is_out_of_memory(self, error: BaseException) -> bool:
        return isinstance(error, MemoryError)


def pretend(monkeypatch: pytest.MonkeyPatch) -> PretendedGpu:
    """Return the device, with CuPy's sparse matrices in its place."""
    for name in ("cupyx", "cupyx.scipy", "cupyx.scipy.sparse"):
        module = ModuleType(name)
        module.csr_matrix = DeviceMatrix  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, name, module)
    return PretendedGpu("cuda", "a pretended GPU", memory_free=10**9)
