"""Kernel families: declared once, implemented as CUDA C++ and as a plain C++ twin.

A family is three files with one stem. ``step.py`` declares (:mod:`.declaration`), ``step.cu``
holds ``extern "C"`` kernels and ``step.cpp`` their twins, with the same names and arguments in the
same order, and the number of threads after them. Where nobody asks for speed on a CPU, the twins
are in NumPy, in a module whose stem ends in ``_cpu``, and take the arguments by name, as one
object. A kernel of many arguments takes structures (:func:`.structure`), declared once in a header
that both include; it is a device function then, and its entry point is made from the declaration.
An engine imports the declaration only and calls ``family["name"](...)``; whether the ``.cu`` or the
twin runs follows from where the arrays live.

Device code comes with the wheel (:mod:`solvers.kernels.ahead`), or is compiled at the first launch
on a GPU, once per (family, number type, index type, GPU).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from solvers.core.errors import EngineError
from solvers.core.machine import threads_for
from solvers.core.process_state import Slot
from solvers.kernels.declaration import ARRAYS, SCALARS, Kernel, Launch
from solvers.kernels.device_code import (
    Types,
    compile_options,
    entry_point,
    file_stem,
    find_compiled,
    load_source,
    packed_macro,
)


@dataclass(frozen=True, eq=False)
class Bound:
    """A kernel with its arguments, ready to be launched on the current stream."""

    function: Any
    shape: Launch
    arguments: tuple[Any, ...]

    def __call__(self) -> None:
        """Launch it."""
        if self.shape.grid:
            self.function(
                (self.shape.grid,),
                (self.shape.block,),
                self.arguments,
                shared_mem=self.shape.shared,
            )

    def ending(self, *integers: int) -> Bound:
        """Return the kernel with other values of its last arguments, all of kind ``int``."""
        kept = self.arguments[: -len(integers)]
        return Bound(self.function, self.shape, (*kept, *map(np.int32, integers)))


def recorded(stream: Any, launches: Iterable[Callable[[], object]]) -> Any:
    """Return launches on the current stream, which are compiled by now, as a CUDA graph.

    The default stream cannot be recorded.
    """
    stream.begin_capture()
    try:
        for launch in launches:
            launch()
    finally:
        graph = stream.end_capture()
    return graph


@dataclass(frozen=True, eq=False)
class _Compiled:
    """A kernel for certain types of its arrays: ``real``, ``index``, and each packed one."""

    function: Any
    types: Mapping[str, str]


@dataclass(eq=False)
class _OfFamily:
    """What is compiled of a family: modules by types and GPU, kernels by their arrays' types."""

    modules: dict[tuple[Types, int], Any] = field(default_factory=dict)
    functions: dict[tuple[str, str, int], _Compiled] = field(default_factory=dict)


class Family:
    """Kernels that stand in one ``.cu`` file and one twin module.

    Parameters
    ----------
    package : str
        Import path of the folder the files stand in.
    stem : str
        Their common stem.
    kernels : sequence of Kernel
    cooperative : bool
        The kernels wait for each other's blocks, so all blocks of a launch have to run at once.
    in_numpy : bool
        The twins are in NumPy.
    foreseen : sequence of mappings
        Arguments of :meth:`types` for which a wheel holds compiled code.
    """

    def __init__(
        self,
        package: str,
        stem: str,
        kernels: Sequence[Kernel],
        *,
        cooperative: bool = False,
        in_numpy: bool = False,
        foreseen: Sequence[Mapping[str, str]] = ({},),
    ) -> None:
        self.package = package
        self.foreseen = foreseen
        self.stem = stem
        self.cooperative = cooperative
        self.in_numpy = in_numpy
        self.kernels = {kernel.name: kernel for kernel in kernels}
        self._compiled: Slot[_OfFamily] = Slot("compiled kernels, by family", _OfFamily)

    def __getitem__(self, name: str) -> Callable[..., None]:
        """Return the kernel as a function of its declared arguments (and ``threads=``)."""
        kernel = self.kernels[name]

        def call(*values: Any, threads: int = 0) -> None:
            if _on_gpu(kernel, values):
                self.bind(name, *values)()
            else:
                work = kernel.work(kernel.by_name(values))
                getattr(self.twin, name)(*values, threads_for(work, threads))

        call.__name__ = name
        call.__doc__ = kernel.contract
        return call

    def __iter__(self) -> Iterator[Kernel]:
        return iter(self.kernels.values())

    @cached_property
    def twin(self) -> Any:
        """The module of the CPU kernels; a compiled one has the names of the family's folders."""
        if self.in_numpy:
            module = importlib.import_module(f"{self.package}.{self.stem}_cpu")
            return SimpleNamespace(**{one.name: _by_name(one, module) for one in self})
        folders = [one for one in self.package.split(".")[1:] if one != "kernels"]
        return importlib.import_module(f"solvers.native.{'_'.join((*folders, self.stem))}")

    def source(self) -> str:
        """Return the device code with its shared headers put in, and with its entry points."""
        code = load_source(self.package, f"{self.stem}.cu")
        return code + "".join(
            entry_point(kernel, self.cooperative)
            for kernel in self.kernels.values()
            if any(argument.structure for argument in kernel.arguments)
        )

    def types(self, real: str = "float64", index: str = "int32", **packed: str) -> Types:
        """Return the macros to compile with; a packed array not named is of ``real``."""
        names = {
            argument.name
            for kernel in self.kernels.values()
            for argument in kernel.arguments
            if argument.kind == "packed[]"
        }
        types = {"REAL": real, "INDEX": index}
        types |= {packed_macro(name): packed.get(name, real) for name in sorted(names)}
        return tuple(types.items())

    def bind(self, name: str, *values: Any) -> Bound:
        """Compile a kernel for the types of these values if need be, and prepare its launch.

        A bound kernel can be launched again and again, and costs little more than the launch.
        """
        kernel = self.kernels[name]
        shape = kernel.launch(kernel.by_name(values))
        found = self._function(kernel, values)
        if shape.shared > found.function.max_dynamic_shared_size_bytes:
            found.function.max_dynamic_shared_size_bytes = shape.shared
        return Bound(found.function, shape, _device_arguments(kernel, values, found.types))

    def _function(self, kernel: Kernel, values: Sequence[Any]) -> _Compiled:
        """Return the compiled kernel for the types of these values, on the current GPU."""
        import cupy

        gpu = int(cupy.cuda.runtime.getDevice())
        chars = "".join(values[place].dtype.char for place in kernel.arrays)
        with self._compiled.locked() as compiled:
            key = (kernel.name, chars, gpu)
            found = compiled.functions.get(key)
            if found is None:
                array_types = _array_types(kernel, values)
                types = self.types(**array_types)
                module = compiled.modules.get((types, gpu))
                if module is None:
                    module = compiled.modules[types, gpu] = self._compile(cupy, types)
                found = _Compiled(module.get_function(kernel.name), array_types)
                compiled.functions[key] = found
            return found

    def _compile(self, cupy: Any, types: Types) -> Any:
        generation = int(cupy.cuda.Device().compute_capability)
        options = compile_options(types)
        name = file_stem(self.package, self.stem, self.source(), options)
        ready = find_compiled(name, generation)
        if ready is not None:
            return cupy.RawModule(path=str(ready), enable_cooperative_groups=self.cooperative)
        module = cupy.RawModule(
            code=self.source(),
            options=options,
            backend="nvrtc",
            enable_cooperative_groups=self.cooperative,
        )
        try:
            module.compile()
        except cupy.cuda.compiler.CompileException as error:
            raise EngineError(
                f"The GPU kernels '{self.package}.{self.stem}' do not compile here; the "
                f"compiler says:\n{error}"
            ) from error
        return module


def _by_name(kernel: Kernel, module: ModuleType) -> Callable[..., None]:
    """Return a twin in NumPy as a function of the declared arguments, and of threads."""
    twin = getattr(module, kernel.name)
    names = [argument.name for argument in kernel.arguments]

    def call(*values: Any) -> None:
        twin(SimpleNamespace(**dict(zip(names, values, strict=False))))

    return call


def _on_gpu(kernel: Kernel, values: Sequence[Any]) -> bool:
    if len(values) != len(kernel.arguments):
        kernel.by_name(values)  # says what is wrong
    return type(values[kernel.arrays[0]]).__module__.startswith("cupy")


def _array_types(kernel: Kernel, values: Sequence[Any]) -> dict[str, str]:
    """Return the types of the arrays of a call: of ``real``, ``index``, and each packed one."""
    found = {}
    for argument, value in zip(kernel.arguments, values, strict=True):
        if argument.kind == "packed[]":
            found[argument.name] = str(value.dtype)
        elif argument.kind in ARRAYS:
            found[argument.kind.removesuffix("[]")] = str(value.dtype)
    return found


def _device_arguments(
    kernel: Kernel, values: Sequence[Any], array_types: Mapping[str, str]
) -> tuple[Any, ...]:
    """Check the arrays and give every scalar the width the device code expects."""
    types = {name: np.dtype(found) for name, found in array_types.items()}
    scalars = {
        "real": types.get("real", np.dtype("float64")).type,
        "index": types.get("index", np.dtype("int32")).type,
        "int": np.int32,
    }
    arguments = []
    for argument, value in zip(kernel.arguments, values, strict=True):
        if argument.kind in SCALARS:
            arguments.append(scalars[argument.kind](value))
            continue
        wanted = types[argument.name if argument.kind == "packed[]" else argument.kind[:-2]]
        if value.dtype != wanted or not value.flags.c_contiguous:
            raise TypeError(
                f"{kernel.name}(): '{argument.name}' must be a contiguous array of {wanted}, "
                "like the others of its kind"
            )
        arguments.append(value)
    return tuple(arguments)
