"""The program with other values of its constants, in a copy that is compiled once.

The copy reads the constants of C++ from the environment when it is loaded; those of Python are
replaced in the text of their module when it is imported.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import shutil
import subprocess
import sys
import types
from collections.abc import Sequence
from typing import Any

from benchmarks.constants_in_source import ROOT, Constant, Value, find

COPY = ROOT / "build" / "constants"

FOLDERS = ("solvers/mip", "solvers/pdlp", "solvers/knapsack")
"""Where constants of C++ are read when the copy is loaded."""

PACKAGES = ("solvers", "gpu_bridge")

CHANGED = "MEASURED_CONSTANTS"
"""Variable with the names and other values of C++ constants: ``file:NAME=value;...``."""

FIXED = (
    *("MOST_ROWS", "FETCHED", "SLOT_BITS", "MARK_BITS", "LANES", "OTHERS", "SUMS", "BLOCK"),
    *("MOST_TEAMS", "MOST_LEVELS", "STAGES", "THREADS", "WARPS", "EACH", "TABLE_BITS", "WORD"),
    *("FRACTION_BITS", "HISTORY_BITS", "EPOCH_SHIFT", "KIND_SHIFT", "CHUNK", "LARGEST_RISE"),
    "ROW_SIZE",
)
"""Constants that the compiler has to know: sizes of arrays and what templates are made for."""

NATIVE = (".cpp", ".h", ".cuh")
"""Files of C++ that are compiled here, those that the twins of kernels share with CUDA too."""

READER = f"""#pragma once
#include <cstdlib>
#include <cstring>
namespace measured {{
inline double value(const char *name, double usual) {{
    const char *told = std::getenv("{CHANGED}");
    const char *found = told == nullptr ? nullptr : std::strstr(told, name);
    return found == nullptr ? usual : std::atof(found + std::strlen(name));
}}
}}
"""


def build(launcher: str | None) -> None:
    """Copy the program and compile it so that constants are read when it is loaded.

    ``launcher`` is a cache of the compiler's results, as CMake takes it.
    """
    for name in PACKAGES:
        skip = shutil.ignore_patterns("__pycache__", "_core*.so", "compiled")
        shutil.rmtree(COPY / name, ignore_errors=True)  # what has gone from the program goes there
        shutil.copytree(ROOT / name, COPY / name, ignore=skip)
    shutil.copy(ROOT / "CMakeLists.txt", COPY)
    (COPY / "solvers" / "measured.h").write_text(READER)
    constants = [one for folder in FOLDERS for one in find(folder)]
    for file in {place[0] for one in constants for place in one.places}:
        if file.endswith(NATIVE):
            (COPY / file).write_text(_read_when_loaded(file, constants))
    environment = dict(os.environ)
    environment["PATH"] = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"
    configure = ["cmake", "-S", str(COPY), "-B", str(COPY / "build"), "-G", "Ninja"]
    configure += [f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON"]
    # some headers are included within a namespace, where they cannot include this one
    configure += [f"-DCMAKE_CXX_FLAGS=-include {COPY}/solvers/measured.h"]
    configure += [f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}"] if launcher else []
    for command in (configure, ["cmake", "--build", str(COPY / "build")]):
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)


def is_current() -> bool:
    """Whether the copy is of the source as it is, by the files of Python."""
    files = [one for name in PACKAGES for one in (ROOT / name).rglob("*.py")]
    copies = [COPY / one.relative_to(ROOT) for one in files]
    return all(
        copy.exists() and copy.read_bytes() == one.read_bytes()
        for one, copy in zip(files, copies, strict=True)
    )


def _read_when_loaded(file: str, constants: list[Constant]) -> str:
    """Return the source of a file of C++ whose constants are read from the environment."""
    text = (ROOT / file).read_bytes()
    wanted = [
        (begin, end, one.name)
        for one in constants
        for place, begin, end in one.places
        if place == file and one.name not in FIXED
    ]
    for begin, end, name in sorted(wanted, reverse=True):
        value = f'measured::value("{file}:{name}=", {text[begin:end].decode()})'
        text = text[:begin] + value.encode() + text[end:]
    lines = [
        line.replace("static constexpr", "const").replace("constexpr", "const")
        if "measured::value" in line
        else line
        for line in text.decode().split("\n")
    ]
    return "\n".join(lines)


def use_copy(values: Sequence[tuple[Constant, Value]]) -> None:
    """Let this process import the program from the copy, with other values of constants."""
    for name in [name for name in sys.modules if name.partition(".")[0] in PACKAGES]:
        del sys.modules[name]
    sys.meta_path.insert(0, _Finder(values))
    os.environ[CHANGED] = ";".join(
        f"{file}:{constant.name}={value!r}"
        for constant, value in values
        for file, _, _ in constant.places
        if file.endswith(NATIVE)
    )


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the program in the copy, some constants of Python with other values."""

    def __init__(self, values: Sequence[tuple[Constant, Value]]) -> None:
        self._places = [
            (str(COPY / file), begin, end, repr(value).encode())
            for constant, value in values
            for file, begin, end in constant.places
        ]

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        """Return where a module of the program is, or None for other modules."""
        if fullname.partition(".")[0] not in PACKAGES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path or [str(COPY)])
        own = [place for place in self._places if spec is not None and place[0] == spec.origin]
        if spec is not None and spec.origin is not None and own:
            text = (COPY / spec.origin).read_bytes()
            for _, begin, end, value in sorted(own, reverse=True):
                text = text[:begin] + value + text[end:]
            spec.loader = _Text(fullname, spec.origin, text)
        return spec


class _Text(importlib.machinery.SourceFileLoader):
    """Loads a module from a text."""

    def __init__(self, fullname: str, path: str, text: bytes) -> None:
        super().__init__(fullname, path)
        self._text = text

    def get_code(self, fullname: str) -> types.CodeType:
        """Return the compiled text."""
        return compile(self._text, self.path, "exec")
