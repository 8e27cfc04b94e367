"""Every ``.cu`` file of the repository compiles, for each GPU generation and number type."""

from __future__ import annotations

from pathlib import Path

import pytest

import solvers
from solvers.kernels import nvrtc
from solvers.kernels.family import compile_options, load_source
from tests.kernels.test_declarations import family_of

ROOT = Path(solvers.__file__).parent
SOURCES = sorted(ROOT.glob("**/*.cu"))
TYPES = (("float64", "int32"), ("float64", "int64"), ("float32", "int32"))
TARGETS = [(90, types) for types in TYPES] + [(80, TYPES[0])]
"""GPU generations with types to compile for; what an older one lacks, it lacks for all types."""
PACKED = ("float32", "uint8", "uint16", "int32")
"""Types of packed arrays besides that of the other numbers."""

LIBRARY = nvrtc.load()
needs_nvrtc = pytest.mark.skipif(LIBRARY is None, reason="NVRTC is not installed")


def read(path: Path) -> str:
    package = ".".join(("solvers", *path.parent.relative_to(ROOT).parts))
    return load_source(package, path.name)


def test_there_are_sources():
    assert SOURCES


@needs_nvrtc
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: f"{target[0]}-{'-'.join(target[1])}")
def test_source_compiles_without_warning(path, target):
    generation, types = target
    family = family_of(path)
    indices = {name: "int32" for name in packed_names(family) if "indices" in name}
    check(path, family.types(*types, **indices), generation, assembled=types == TYPES[0])


@needs_nvrtc
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_source_compiles_for_every_type_of_packed_arrays(path):
    family = family_of(path)
    names = packed_names(family)
    for packed in PACKED if names else ():
        index = packed if packed in ("uint16", "int32") else "int32"
        types = {name: index if "indices" in name else packed for name in names}
        check(path, family.types(**types), 90)


def packed_names(family):
    return {a.name for kernel in family for a in kernel.arguments if a.kind == "packed[]"}


def check(path, types, generation, *, assembled=False):
    """Compile, to machine code where the assembler may find something that it did not before.

    That takes most of the time. Types are nothing to it, and an older generation is where the
    code has some of its language in it.
    """
    source = read(path)
    assembled = assembled and (generation == TARGETS[0][0] or "asm volatile" in source)
    kind = "sm" if assembled else "compute"
    options = (*compile_options(types), f"--gpu-architecture={kind}_{generation}")
    compiled = nvrtc.compile_source(LIBRARY, source, path.name, options)
    assert compiled.code, compiled.log
    assert "warning" not in compiled.log, compiled.log


@needs_nvrtc
def test_compiler_messages_point_at_the_file_on_disk():
    source = read(SOURCES[0]) + '\nextern "C" __global__ void broken() { undeclared = 1; }\n'
    compiled = nvrtc.compile_source(
        LIBRARY,
        source,
        "joined.cu",
        (*compile_options(family_of(SOURCES[0]).types()), "-arch=sm_80"),
    )
    lines = len(SOURCES[0].read_text().splitlines())
    assert compiled.code is None
    assert f"{SOURCES[0].name}({lines + 2})" in compiled.log
