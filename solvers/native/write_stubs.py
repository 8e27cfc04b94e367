"""Write type stubs of the extension module beside it; the build runs this after linking."""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path

HEADING = "# Written by the build from the bindings in the .cpp files.\n"
IMPORTS = "import typing\n\nimport numpy\nimport numpy.typing\n"


def main(library: Path, folder: Path) -> None:
    """Write ``name.pyi`` for every submodule of a library, where it would change."""
    spec = importlib.util.spec_from_file_location("_core", library)
    assert spec is not None
    assert spec.loader is not None
    core = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(core)
    modules = {name: one for name, one in vars(core).items() if isinstance(one, types.ModuleType)}
    for name, module in modules.items():
        _write(folder / f"{name}.pyi", HEADING + IMPORTS + _functions(module))
    interrupted = "\nclass Interrupted(Exception): ...\n"
    _write(folder / "_core.pyi", HEADING + interrupted + _functions(core))
    for old in folder.glob("*.pyi"):
        if old.stem not in modules and old.stem != "_core":
            old.unlink()


def _functions(module: types.ModuleType) -> str:
    """Return what a stub says of a module's functions, whose docstrings are their signatures.

    Overloads that differ in structures of arrays only are one to a type checker.
    """
    text = ""
    for function in vars(module).values():
        if not isinstance(function, types.BuiltinFunctionType):
            continue
        signatures = dict.fromkeys((function.__doc__ or "").splitlines())
        mark = "@typing.overload\n" if len(signatures) > 1 else ""
        text += "".join(f"\n{mark}def {signature}: ...\n" for signature in signatures)
    return text


def _write(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
