"""Whole solves through the CUDA source, compiled for the host by the walkers' emulator of lanes."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from solvers.kernels.family import Family
from tests.mip.heuristics.local_search.gpu.emulated import COMPILER, SCALARS, build

MOST_THREADS = 256
"""Threads that the emulator's block has; kernels of one block take any multiple of a warp."""

__all__ = ["COMPILER", "Emulator"]


class _OnHost(Family):
    """A family whose source says to a host compiler what only CUDA's knows."""

    constants: Mapping[str, int] = {}

    def source(self) -> str:
        bounds = "#undef __launch_bounds__\n#define __launch_bounds__(...)\n"
        text = super().source()
        for name, value in self.constants.items():
            text, found = re.subn(rf"#define {name} \d+", f"#define {name} {value}", text)
            assert found == 1, name
        return f"#define __forceinline__ inline\n{bounds}{text}"


def on_host(family: Family, **constants: int) -> Family:
    """Return a family whose source a host compiler understands, with other constants."""
    found = _OnHost(family.package, family.stem, tuple(family))
    found.constants = constants
    return found


class Emulator:
    """Runs kernels' device code where families would run their twins."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._libraries: dict[str, ctypes.CDLL] = {}
        self.launches = 0

    def kernel(self, family: Family, name: str) -> Callable[..., None]:
        """Stand in for ``Family.__getitem__``."""
        declared = family.kernels[name]
        if family.stem not in self._libraries:
            self._libraries[family.stem] = build(on_host(family), self._folder)
        door = getattr(self._libraries[family.stem], f"emulate_{name}")

        def call(*values: Any) -> None:
            shape = declared.launch(declared.by_name(values))
            arguments: list[Any] = [
                ctypes.c_int(shape.grid),
                ctypes.c_int(min(shape.block, MOST_THREADS)),
            ]
            for argument, value in zip(declared.arguments, values, strict=True):
                if argument.kind in SCALARS:
                    arguments.append(SCALARS[argument.kind](value))
                else:
                    assert value.flags.c_contiguous
                    assert value.dtype == ("int32" if argument.kind == "index[]" else "float64")
                    arguments.append(ctypes.c_void_p(value.ctypes.data))
            self.launches += 1
            door(*arguments)

        return call
