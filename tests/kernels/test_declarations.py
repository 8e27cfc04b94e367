"""Declaration, device code and twin of every kernel family say the same."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path

import solvers
from solvers.kernels.declaration import Kernel
from solvers.kernels.device_code import packed_macro
from solvers.kernels.family import Family
from tests.cases import through

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


@through("path", SOURCES)
def test_device_code_has_the_declared_kernels_and_arguments(path):
    declared = {
        kernel.name: [(a.name, a.kind, a.direction != "in") for a in kernel.arguments]
        for kernel in family_of(path)
        if not has_structures(kernel)  # whose entry points are made from the declaration
    }
    assert declared_in_c(path) == declared


def has_structures(kernel: Kernel) -> bool:
    return any(argument.structure for argument in kernel.arguments)


def names_in_twin(path: Path, kernel: str) -> list[str | None]:
    """Return the name of each argument of a kernel's twin; what it has no use for has none."""
    text = path.read_text()
    exposed = re.search(rf'"{kernel}", &(\w+)', text)
    function = exposed[1] if exposed else kernel
    found = re.findall(rf"\bvoid {function}\(((?:[^()]|\([^()]*\))*)\)\s*{{", text)
    assert found, f"{path.name} has no {function}"
    plain = re.sub(r"//[^\n]*|/\*.*?\*/", "", max(found, key=len))  # a helper may share the name
    while "<" in plain:
        plain = re.sub(r"<[^<>]*>", "", plain)
    words = [part.replace("const ", "").split() for part in plain.split(",")]
    return [one[-1].lstrip("&*") if len(one) > 1 else None for one in words]


def names_in_numpy(function: Callable[..., None]) -> set[str]:
    """Return the arguments that a twin in NumPy, or what it hands them to, names."""
    text = inspect.getsource(function)
    handed = set(re.findall(r"(?<!def )\b(\w+)\(a\b(?!\.)", text))
    own = set(re.findall(r"\ba\.(\w+)", text))
    return own.union(*(names_in_numpy(function.__globals__[name]) for name in handed))


@through("path", SOURCES)
def test_twin_has_the_declared_kernels_and_arguments(path):
    family = family_of(path)
    for kernel in family:
        assert hasattr(family.twin, kernel.name)
        wanted = [*(argument.name for argument in kernel.arguments), "threads"]
        if family.in_numpy:
            twin = importlib.import_module(f"{family.package}.{family.stem}_cpu")
            assert names_in_numpy(getattr(twin, kernel.name)) <= set(wanted[:-1]), kernel.name
            continue
        if has_structures(kernel):
            fields = [argument.field or None for argument in kernel.arguments]
            assert family.twin.fields[kernel.name] == (*fields, None)
            continue
        found = names_in_twin(path.with_suffix(".cpp"), kernel.name)
        assert len(found) == len(wanted)
        assert [b if b else a for a, b in zip(wanted, found, strict=True)] == wanted


@through("path", SOURCES)
def test_every_kernel_states_a_contract(path):
    for kernel in family_of(path):
        outputs = [a.name for a in kernel.arguments if a.direction != "in"]
        assert outputs
        assert len(kernel.contract.split()) > 5


def test_parser_sees_a_wrong_order():
    kernels = next(filter(None, map(declared_in_c, SOURCES)))
    name, arguments = next(iter(kernels.items()))
    assert {name: arguments[::-1]} != {name: kernels[name]}
