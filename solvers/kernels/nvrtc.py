"""NVIDIA's runtime compiler from its wheel, without CuPy and without a GPU."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Compiled:
    """What the compiler made: the code, or None if it failed, and what it said."""

    code: bytes | None
    log: str


def load() -> ctypes.CDLL | None:
    """Return the library from the installed wheels or the system, or None."""
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
) -> Compiled:
    """Compile to machine code or, for a virtual architecture, to the assembler's language."""
    program = ctypes.c_void_p()
    made = library.nvrtcCreateProgram(
        ctypes.byref(program), source.encode(), name.encode(), 0, None, None
    )
    if made != 0:
        raise RuntimeError(f"NVRTC cannot begin a program (error {made})")
    try:
        texts = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        failed = library.nvrtcCompileProgram(program, len(options), texts) != 0
        log = _text(program, library.nvrtcGetProgramLogSize, library.nvrtcGetProgramLog)
        code = None
        if not failed:
            code = _text(program, library.nvrtcGetCUBINSize, library.nvrtcGetCUBIN)
            code = code or _text(program, library.nvrtcGetPTXSize, library.nvrtcGetPTX)
        return Compiled(code, log.rstrip(b"\0").decode(errors="replace"))
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _text(program: ctypes.c_void_p, size_of: Any, get: Any) -> bytes:
    size = ctypes.c_size_t()
    size_of(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    get(program, text)
    return text.raw
