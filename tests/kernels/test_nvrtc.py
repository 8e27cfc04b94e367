"""Every ``.cu`` file of the repository is CUDA C++ for the oldest GPUs and for each number type.

Later generations know all words of the assembler that the oldest knows (PTX ISA).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import solvers
from solvers.kernels import ahead
from solvers.kernels.device_code import OLDEST, Types, compile_options, load_source
from solvers.kernels.family import Family
from tests.cases import through
from tests.kernels.test_declarations import family_of

ROOT = Path(solvers.__file__).parent
SOURCES = sorted(ROOT.glob("**/*.cu"))
TYPES = (("float64", "int32"), ("float64", "int64"), ("float32", "int32"))
PACKED = ("float32", "uint8", "uint16", "int32")
"""Types of packed arrays besides that of the other numbers."""

LIBRARY = ahead.load()
needs_nvrtc = pytest.mark.skipif(LIBRARY is None, reason="NVRTC is not installed")


def read(path: Path) -> str:
    package = ".".join(("solvers", *path.parent.relative_to(ROOT).parts))
    return load_source(package, path.name)


def test_there_are_sources():
    assert SOURCES


@needs_nvrtc
@through("path", SOURCES)
def test_source_compiles_for_every_type_without_warning(path):
    """By the front end alone, which says all that there is to say of a source."""
    family = family_of(path)
    foreseen = [family.types(**one) for one in family.foreseen]
    for options in dict.fromkeys(map(compile_options, (*foreseen, *all_types(family)))):
        check(path, options)


@needs_nvrtc
def test_what_a_wheel_holds_is_machine_code_and_portable_code(tmp_path):
    """Of one family; the wheel, whose build stops at a warning, has them all."""
    smallest = min(SOURCES, key=lambda path: path.stat().st_size)
    job, *_ = ahead.jobs_of(family_of(smallest), (OLDEST,))
    ahead.store(job, tmp_path)
    assert job.is_done(tmp_path)
    assert len(job.files) == 2
    assert all((tmp_path / name).stat().st_size for name in job.files)


def all_types(family: Family) -> Iterator[Types]:
    """Return the types of a family's arrays for which it must compile."""
    names = {a.name for kernel in family for a in kernel.arguments if a.kind == "packed[]"}
    for real, index in TYPES:
        yield family.types(real, index, **{name: "int32" for name in names if "indices" in name})
    for packed in PACKED if names else ():
        short = packed if packed in ("uint16", "int32") else "int32"
        yield family.types(**{name: short if "indices" in name else packed for name in names})


def check(path: Path, options: tuple[str, ...]) -> None:
    target = (f"-arch=compute_{OLDEST}", "-fdevice-syntax-only")
    compiled = ahead.compile_source(LIBRARY, read(path), path.name, (*options, *target))
    assert compiled.portable is not None, compiled.log
    assert "warning" not in compiled.log, compiled.log


@needs_nvrtc
def test_compiler_messages_point_at_the_file_on_disk():
    source = read(SOURCES[0]) + '\nextern "C" __global__ void broken() { undeclared = 1; }\n'
    compiled = ahead.compile_source(
        LIBRARY,
        source,
        "joined.cu",
        (*compile_options(family_of(SOURCES[0]).types()), "-arch=sm_80"),
    )
    lines = len(SOURCES[0].read_text().splitlines())
    assert compiled.portable is None
    assert f"{SOURCES[0].name}({lines + 2})" in compiled.log
