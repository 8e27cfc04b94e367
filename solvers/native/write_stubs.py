"""Write type stubs of the extension module beside it; the build runs this after linking."""

from __future__ import annotations

import importlib.util
import re
import sys
import types
from collections import Counter
from pathlib import Path

from nanobind.stubgen import StubGen

HEADING = "# Written by the build from the bindings in the .cpp files.\n"


def main(library: Path, folder: Path) -> None:
    """Write ``name.pyi`` for every submodule of a library, where it would change."""
    spec = importlib.util.spec_from_file_location("_core", library)
    assert spec is not None
    assert spec.loader is not None
    core = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(core)
    modules = {name: one for name, one in vars(core).items() if isinstance(one, types.ModuleType)}
    for name, module in modules.items():
        for told in ("constants", "records"):
            vars(module).pop(told, None)
        stub = StubGen(module, include_docstrings=False)
        stub.put(module)
        _write(folder / f"{name}.pyi", HEADING + _without_equals(stub.get()))
    _write(
        folder / "_core.pyi",
        HEADING + "class Interrupted(Exception): ...\n\ndef watch(address: int) -> None: ...\n",
    )
    for old in folder.glob("*.pyi"):
        if old.stem not in modules and old.stem != "_core":
            old.unlink()


def _without_equals(text: str) -> str:
    """Leave one of overloads that a stub cannot tell apart: structures of arrays of other types."""
    blocks = list(dict.fromkeys(block.strip("\n") for block in text.split("\n\n")))
    names = [re.match(r"@overload\ndef (\w+)", block) for block in blocks]
    counts = Counter(found[1] for found in names if found)
    kept = (
        block.replace("@overload\n", "") if found and counts[found[1]] == 1 else block
        for block, found in zip(blocks, names, strict=True)
    )
    return "\n\n".join(kept) + "\n"


def _write(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
