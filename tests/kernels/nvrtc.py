"""Compile CUDA C++ without a GPU: the runtime compiler from its wheel, through ctypes."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
from pathlib import Path


def load() -> ctypes.CDLL | None:
    """Return the NVRTC library from the installed wheels or the system, or None."""
    for candidate in _candidates():
        try:
            return ctypes.CDLL(candidate)
        except OSError:
            continue
    return None


def _candidates() -> list[str]:
    found: list[str] = []
    spec = importlib.util.find_spec("nvidia")
    for root in [] if spec is None else spec.submodule_search_locations or []:
        found += sorted(str(path) for path in Path(root).glob("**/libnvrtc.so.*[0-9]"))
    system = ctypes.util.find_library("nvrtc")
    return found + ([system] if system else [])


def compile_source(
    library: ctypes.CDLL, source: str, name: str, options: tuple[str, ...]
) -> tuple[bool, str]:
    """Compile to machine code or, for a virtual architecture, to the assembler's language.

    Returns whether it worked, and the compiler's log.
    """
    program = ctypes.c_void_p()
    made = library.nvrtcCreateProgram(
        ctypes.byref(program), source.encode(), name.encode(), 0, None, None
    )
    assert made == 0
    try:
        texts = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        status = library.nvrtcCompileProgram(program, len(options), texts)
        size = ctypes.c_size_t()
        library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        library.nvrtcGetProgramLog(program, log)
        code = ctypes.c_size_t()
        if status == 0:
            library.nvrtcGetCUBINSize(program, ctypes.byref(code))
            if code.value == 0:
                library.nvrtcGetPTXSize(program, ctypes.byref(code))
        return status == 0 and code.value > 1, log.value.decode(errors="replace")
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))
