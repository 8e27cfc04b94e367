"""Kernel families: declared once, implemented as CUDA C++ and as a plain C++ twin.

A family is three files with one stem. ``step.py`` declares (this module's classes), ``step.cu``
holds ``extern "C"`` kernels and ``step.cpp`` their twins, with the same names and arguments in the
same order, and the number of threads after them. A kernel of many arguments takes structures
(:func:`structure`), declared once in a header that both include; it is a device function then, and
its entry point is made from the declaration. An engine imports the declaration only and calls
``family["name"](...)``; whether the ``.cu`` or the twin runs follows from where the arrays live.

Device code comes with the wheel (:mod:`solvers.kernels.ahead`), or is compiled at the first launch
on a GPU, once per (family, number type, index type, GPU).
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from itertools import groupby
from typing import Any

import numpy as np

from solvers.core.cores import threads_for
from solvers.core.errors import EngineError
from solvers.core.process_state import Slot
from solvers.kernels.compiled import file_stem, find_compiled

WARP, BLOCK = 32, 256
"""Threads of a warp, and of a block where nothing speaks for another number."""

ARRAYS = ("real[]", "index[]", "packed[]", "code[]")
SCALARS = ("real", "index", "int")

C_TYPES = {
    "float64": "double",
    "float32": "float",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
}
"""What REAL, INDEX and the types of packed arrays stand for, by NumPy's name of the type."""

Types = tuple[tuple[str, str], ...]
"""Macros of a compilation and the NumPy names of the types they stand for."""

DEVICE_HEADERS = "solvers.kernels.device"

_INCLUDE = re.compile(r'^\s*#include\s+"(?P<file>[\w.]+)"\s*$')


@dataclass(frozen=True)
class Argument:
    """One argument of a kernel.

    ``kind`` is ``real[]``, ``index[]``, ``packed[]`` or ``code[]`` (unsigned bytes) for arrays and
    ``real``, ``index`` or ``int`` (32 bits) for scalars; ``direction`` is ``in``, ``out`` or
    ``inout``. A packed array has a type of its own, chosen with the data: an argument ``values``
    is an array of ``VALUES_T`` in device code. An argument may be the ``field`` of a
    ``structure`` (:func:`structure`).
    """

    name: str
    kind: str
    direction: str = "in"
    structure: str = ""
    field: str = ""

    def __post_init__(self) -> None:
        if self.kind not in ARRAYS + SCALARS or self.direction not in ("in", "out", "inout"):
            raise ValueError(f"argument '{self.name}': {self.kind} {self.direction}")


def arguments(declarations: str) -> tuple[Argument, ...]:
    """Declare arguments as C would: ``int rows; real[] x, y; out index[] order``.

    A declaration is a direction, ``in`` if it is left out, a kind, and names of that kind.
    """
    found: list[Argument] = []
    for declaration in declarations.split(";"):
        *direction, kind, first = declaration.split(",")[0].split()
        names = (first, *(name.strip() for name in declaration.split(",")[1:]))
        found += (Argument(name, kind, *direction) for name in names)
    return tuple(found)


def structure(name: str, fields: str, prefix: str | None = None) -> tuple[Argument, ...]:
    """Declare the fields of a structure, in their order in C++, as arguments of a kernel.

    Device code and twin take the structure as one parameter; what is passed from Python stays one
    value for each field. An argument is called ``prefix``, which is ``name_`` if it is left out,
    and then as the field.
    """
    before = f"{name}_" if prefix is None else prefix
    return tuple(
        Argument(before + one.name, one.kind, one.direction, name, one.name)
        for one in arguments(fields)
    )


@dataclass(frozen=True)
class Launch:
    """Shape of a launch: blocks in the grid, threads in a block, dynamic shared memory in bytes."""

    grid: int
    block: int
    shared: int = 0


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


Values = Mapping[str, Any]
"""The arguments of one call, by name."""


@dataclass(frozen=True)
class Kernel:
    """The declaration of one kernel.

    Parameters
    ----------
    name : str
        Its name in the ``.cu`` file and in the twin's module.
    arguments : sequence of Argument
        By :func:`arguments`.
    contract : str
        What holds before and after, and how exactly device and twin agree.
    launch : callable
        From the arguments of a call to the shape of its launch.
    work : callable
        From the arguments to the number of elementary steps, by which the CPU decides whether
        threads pay.
    traffic : callable, optional
        From the arguments to the bytes that have to travel at least once, where these are not all
        arrays, once for each way.
    bounds : str
        Of ``__launch_bounds__``, for a kernel with structures.
    """

    name: str
    arguments: Sequence[Argument]
    contract: str
    launch: Callable[[Values], Launch]
    work: Callable[[Values], int]
    traffic: Callable[[Values], int] | None = None
    bounds: str = ""

    @cached_property
    def arrays(self) -> tuple[int, ...]:
        """Places of the arrays among the arguments."""
        return tuple(i for i, argument in enumerate(self.arguments) if argument.kind in ARRAYS)

    def bytes_moved(self, values: Values) -> int:
        """Return the bytes that have to travel at least once."""
        if self.traffic is not None:
            return self.traffic(values)
        ways = {argument.name: 1 + (argument.direction == "inout") for argument in self.arguments}
        names = (self.arguments[place].name for place in self.arrays)
        return sum(ways[name] * int(values[name].nbytes) for name in names)

    def arguments_of(self, *holders: Any, **others: Any) -> tuple[Any, ...]:
        """Return the arguments of a call, each by its name.

        Parameters
        ----------
        *holders
            Objects with attributes of the arguments' names; the first that has one gives it.
        **others
            What goes before them.

        Raises
        ------
        AttributeError
            Nobody has an argument.
        """
        return tuple(
            others[one.name] if one.name in others else _attribute(holders, one.name)
            for one in self.arguments
        )

    def by_name(self, values: Sequence[Any]) -> Values:
        """Pair the values of a call with the declared names."""
        if len(values) != len(self.arguments):
            raise TypeError(
                f"{self.name}() takes {len(self.arguments)} arguments, {len(values)} were given"
            )
        return {
            argument.name: value for argument, value in zip(self.arguments, values, strict=True)
        }


def _attribute(holders: Sequence[Any], name: str) -> Any:
    for holder in holders:
        if hasattr(holder, name):
            return getattr(holder, name)
    raise AttributeError(f"no argument '{name}' among {[type(one).__name__ for one in holders]}")


def by_owner(owners: str, lanes: str | None = None, block: int = 256) -> Callable[[Values], Launch]:
    """Return a launch rule: ``lanes`` threads per owner, whole blocks of ``block`` threads."""

    def launch(values: Values) -> Launch:
        threads = int(values[owners]) * (1 if lanes is None else int(values[lanes]))
        return Launch(-(-threads // block), block)

    return launch


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
        foreseen: Sequence[Mapping[str, str]] = ({},),
    ) -> None:
        self.package = package
        self.foreseen = foreseen
        self.stem = stem
        self.cooperative = cooperative
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
        """The module of the CPU kernels, which has the names of the family's folders."""
        folders = [one for one in self.package.split(".")[1:] if one != "kernels"]
        return importlib.import_module(f"solvers.native.{'_'.join((*folders, self.stem))}")

    def source(self) -> str:
        """Return the device code with its shared headers put in, and with its entry points."""
        code = load_source(self.package, f"{self.stem}.cu")
        return code + "".join(
            _entry_point(kernel, self.cooperative)
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


def stored_types(*prefixes: str) -> tuple[Mapping[str, str], ...]:
    """Return the types in which a matrix's entries may be stored, for ``foreseen``.

    ``prefixes`` name the matrices that a kernel gets, all stored alike.
    """
    return tuple(
        {f"{prefix}indices": index for prefix in prefixes}
        | {f"{prefix}values": value for prefix in prefixes}
        for value in ("float64", "float32", "uint8", "uint16")
        for index in ("int32", "uint16")
    )


def packed_macro(name: str) -> str:
    """Return the macro that stands for the type of a packed array in device code."""
    return f"{name.upper()}_T"


def _entry_point(kernel: Kernel, cooperative: bool) -> str:
    """Return the entry point of a kernel with structures, which makes them from its parameters.

    Parameters can tell the compiler that nothing else points to what is only read, as fields
    cannot. Blocks of a cooperative kernel read what others write while it runs.
    """
    parameters = ", ".join(_parameter(one, cooperative) for one in kernel.arguments)
    groups = groupby(kernel.arguments, key=lambda one: one.structure)
    names = [(name, ", ".join(one.name for one in group)) for name, group in groups]
    passed = ", ".join(f"{{{group}}}" if name else group for name, group in names)
    bounds = f" __launch_bounds__({kernel.bounds})" if kernel.bounds else ""
    return (
        f'extern "C" __global__ void{bounds} {kernel.name}({parameters}) {{\n'
        f"    {kernel.name}({passed});\n}}\n"
    )


def _parameter(argument: Argument, cooperative: bool) -> str:
    """Declare an argument as a parameter of device code."""
    kind = argument.kind.removesuffix("[]")
    types = {"real": "REAL", "index": "INDEX", "packed": packed_macro(argument.name)}
    types["code"] = C_TYPES["uint8"]
    found = types.get(kind, kind)
    if argument.kind in SCALARS:
        return f"{found} {argument.name}"
    if argument.direction == "in":
        return f"const {found}* __restrict__ {argument.name}"
    return f"{found}* {'' if cooperative else '__restrict__ '}{argument.name}"


def compile_options(types: Types) -> tuple[str, ...]:
    """Return the compiler options for the types of a compilation."""
    return ("-std=c++17", *(f"-D{macro}={C_TYPES[name]}" for macro, name in types))


def load_source(package: str, name: str, _seen: set[str] | None = None) -> str:
    """Read a ``.cu`` or ``.cuh`` file; ``#include "x.cuh"`` puts in the header once.

    Headers stand beside the source, or in ``solvers/kernels/device`` where engines share them.
    Line directives keep the compiler's messages pointing at the file as it is on disk.
    """
    seen = set() if _seen is None else _seen
    text = resources.files(package).joinpath(name).read_text(encoding="utf-8")
    lines = [f'#line 1 "{name}"']
    for number, line in enumerate(text.splitlines(), start=1):
        match = _INCLUDE.match(line)
        if match is None:
            lines.append(line)
            continue
        header = match["file"]
        if header not in seen:
            seen.add(header)
            own = resources.files(package).joinpath(header).is_file()
            lines.append(load_source(package if own else DEVICE_HEADERS, header, seen))
        lines.append(f'#line {number + 1} "{name}"')
    return "\n".join(lines) + "\n"


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
