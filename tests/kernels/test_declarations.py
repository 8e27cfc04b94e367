"""Declaration, device code and twin of every kernel family say the same."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import solvers
from solvers.kernels.family import Family, packed_macro

ROOT = Path(solvers.__file__).parent
SOURCES = sorted(ROOT.glob("**/*.cu"))
HEADER = re.compile(
    r'extern "C" __global__ void (?:__launch_bounds__\([^)]*\)\s*)?'
    r"(?P<name>\w+)\((?P<arguments>.*?)\)\s*\{",
    re.S,
)
C_KINDS = {"REAL*": "real[]", "INDEX*": "index[]", "REAL": "real", "INDEX": "index", "int": "int"}


def family_of(path: Path) -> Family:
    package = ".".join(("solvers", *path.parent.relative_to(ROOT).parts))
    module = importlib.import_module(f"{package}.{path.stem}")
    families = [value for value in vars(module).values() if isinstance(value, Family)]
    assert len(families) == 1, f"{module.__name__} must declare one family"
    assert (families[0].package, families[0].stem) == (package, path.stem)
    return families[0]


def declared_in_c(path: Path) -> dict[str, list[tuple[str, str, bool]]]:
    """Return (name, kind, may be written) of each argument of each kernel of a source."""
    text = re.sub(r"//[^\n]*", "", path.read_text())
    kernels = {}
    for match in HEADER.finditer(text):
        arguments = []
        for part in match["arguments"].split(","):
            words = part.replace("__restrict__", " ").replace("*", "* ").split()
            constant = words[0] == "const"
            kind, name = "".join(words[constant:-1]), words[-1]
            packed = kind == f"{packed_macro(name)}*"
            declared = "packed[]" if packed else C_KINDS[kind]
            arguments.append((name, declared, kind.endswith("*") and not constant))
        kernels[match["name"]] = arguments
    return kernels


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_device_code_has_the_declared_kernels_and_arguments(path):
    declared = {
        kernel.name: [(a.name, a.kind, a.direction != "in") for a in kernel.arguments]
        for kernel in family_of(path)
    }
    assert declared_in_c(path) == declared


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_twin_has_the_declared_kernels_and_arguments(path):
    family = family_of(path)
    for kernel in family:
        twin = getattr(family.twin, kernel.name)
        wanted = [argument.name for argument in kernel.arguments]
        for signature, *_ in twin.__nb_signature__:
            assert re.findall(r"(\w+): ", signature) == [*wanted, "threads"]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_every_kernel_states_a_contract(path):
    for kernel in family_of(path):
        outputs = [a.name for a in kernel.arguments if a.direction != "in"]
        assert outputs
        assert len(kernel.contract.split()) > 5


def test_parser_sees_a_wrong_order():
    path = SOURCES[0]
    kernels = declared_in_c(path)
    name, arguments = next(iter(kernels.items()))
    assert {name: arguments[::-1]} != {name: kernels[name]}
