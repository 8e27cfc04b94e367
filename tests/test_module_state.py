"""What a module holds does not change, but for the slots of ``solvers.core.process_state``.

Found in the sources: names of a module that a function rebinds, fills or writes to, containers and
locks that are of use only if they change, and instances of classes of ours whose methods change
them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

from solvers.core.process_state import slots
from tests.cases import through
from tests.locations import ROOT
from tests.sources import WINGS, sources, tree_of

PLACE = ROOT / "solvers" / "core" / "process_state.py"
SOURCES = [path for path in sources(*WINGS, suffixes=(".py",)) if path != PLACE]

CHANGES = {
    *("add", "append", "appendleft", "clear", "difference_update", "discard", "extend", "insert"),
    *("intersection_update", "pop", "popitem", "popleft", "put", "remove", "reverse"),
    *("setdefault", "sort", "symmetric_difference_update", "update"),
}
"""Methods that change what they are called on."""

CHANGEABLE = {
    *("Barrier", "BoundedSemaphore", "Condition", "ContextVar", "Counter", "Event", "Lock"),
    *("LifoQueue", "OrderedDict", "PriorityQueue", "Queue", "RLock", "Semaphore", "SimpleQueue"),
    *("SimpleNamespace", "ThreadPoolExecutor", "WeakKeyDictionary", "WeakSet"),
    *("WeakValueDictionary", "bytearray", "count", "cycle", "defaultdict", "default_rng", "deque"),
    "local",
}
"""What is called only where its result is to change; so are containers without items."""

CACHED = {
    "gpu_bridge/option_translation.py": {"_near_rows", "_exact_rows"},
    "gpu_bridge/options.py": {"option_rows", "option_table"},
    "gpu_bridge/report/log_text.py": {"versions"},
    "solvers/core/device.py": {"_cpu_name", "_driver_gpus"},
    "solvers/kernels/device_code.py": {"_folder"},
    "solvers/papers/sparse_formats/machine.py": {"_measure"},
}
"""Functions that keep their results, all of which are constants of the machine or the source."""


def name_of(node: ast.expr) -> str:
    """Return the last part of what is called: ``dict`` of ``dict[str, int]()``."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def root_of(node: ast.expr) -> str:
    """Return the name that a chain of attributes and items begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return getattr(node, "id", "")


def at_top(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Give the statements that run at import, also those of classes and branches."""
    for node in body:
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for part in ("body", "orelse", "handlers", "finalbody"):
                yield from at_top(getattr(node, part, []))


def assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Give the names of a module and of its classes that stand for a value, with the value."""
    for node in at_top(tree.body):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        if isinstance(node, ast.Assign | ast.AnnAssign) and value is not None:
            yield from ((each.id, value) for each in targets if isinstance(each, ast.Name))


def bound(tree: ast.Module) -> set[str]:
    """Return the names that a module binds, without modules of others."""
    found = {name for name, _ in assigned(tree)}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            ("solvers", "gpu_bridge")
        ):
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def changed(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Give the line and root of everything written to or changed by a method of its own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Subscript):
            if isinstance(node.ctx, ast.Store | ast.Del):
                yield node.lineno, root_of(node)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in CHANGES:
            yield node.lineno, root_of(node.func.value)


def own_names(function: ast.AST) -> set[str]:
    """Return the names that belong to a function: its parameters and what it binds."""
    found = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef) and node is not function:
            found.add(node.name)
    return found


def changing_classes() -> set[str]:
    """Return the classes whose methods change their instances after they are made."""
    found = set()
    for path in SOURCES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef) and any(
                isinstance(method, ast.FunctionDef)
                and method.name not in ("__init__", "__post_init__", "__new__")
                and any(root == "self" for _, root in changed(method))
                for method in node.body
            ):
                found.add(node.name)
    return found


def state_of(tree: ast.Module, classes: set[str]) -> Iterator[str]:
    """Give what changes in a module, with its line."""
    known = dict(assigned(tree))
    in_slots = {
        name for name, value in known.items() if name_of(getattr(value, "func", value)) == "Slot"
    }
    for name, value in assigned(tree):
        called = name_of(value.func) if isinstance(value, ast.Call) else ""
        empty_call = called in ("dict", "list", "set") and not (value.args or value.keywords)
        empty = isinstance(value, ast.List | ast.Dict) and not ast.unparse(value).strip("[]{}")
        if empty or empty_call or called in CHANGEABLE | classes:
            yield f"{value.lineno}: {name} = {ast.unparse(value)[:60]}"
    names = bound(tree) - in_slots
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            yield f"{node.lineno}: global {', '.join(node.names)}"
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            ours = names - own_names(node)
            yield from (
                f"{line}: {name} is changed" for line, name in changed(node) if name in ours
            )


@through(
    "source",
    [
        "TOTAL = 0\ndef f():\n    global TOTAL\n    TOTAL += 1",
        "_cache = {}",
        "_cache: dict[str, int] = dict()",
        "import threading\n_lock = threading.Lock()",
        "import weakref\nclass A:\n    known = weakref.WeakSet()",
        "TABLE = {1: 2}\ndef f(key):\n    TABLE[key] = 3",
        "TABLE = [1]\ndef f(key):\n    def g():\n        TABLE.append(key)\n    g()",
        "def f():\n    f.calls += 1",
        "class A:\n    count = 0\n    def f(self):\n        A.count += 1",
        "from solvers.core.device import Device\ndef f():\n    Device.seen = True",
        "from solvers.core import device\ndef f():\n    device.LIMIT = 3",
        "TALLY = Tally()",
        "from solvers.core.device import KNOWN\ndef f():\n    del KNOWN[0]",
    ],
)
def test_state_of_every_form_is_found(source: str) -> None:
    assert list(state_of(ast.parse(source), {"Tally"}))


@through(
    "source",
    [
        "TABLE = {1: 2}\ndef f(TABLE):\n    TABLE[1] = 3",
        "SIZES = [1, 2]\ndef f():\n    sizes = list(SIZES)\n    sizes.append(3)",
        "_kept = Slot('a thing', set)\ndef f():\n    _kept.value.add(1)",
        "class A:\n    def f(self):\n        self.n = 1",
    ],
)
def test_what_is_no_state_is_left_alone(source: str) -> None:
    assert not list(state_of(ast.parse(source), {"Tally"}))


def test_no_module_holds_what_changes() -> None:
    classes = changing_classes()
    found = [
        f"{path.relative_to(ROOT)}:{what}"
        for path in SOURCES
        for what in state_of(tree_of(path), classes)
    ]
    assert not found, "put it into a Slot of solvers.core.process_state: " + "; ".join(found)


def test_functions_that_keep_results_keep_constants() -> None:
    found: dict[str, set[str]] = {}
    for path in SOURCES:
        for node in ast.walk(tree_of(path)):
            for decorator in getattr(node, "decorator_list", ()):
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if name_of(called) in ("cache", "lru_cache"):
                    found.setdefault(path.relative_to(ROOT).as_posix(), set()).add(node.name)
    assert found == CACHED


def test_every_slot_is_listed() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.partition("## State of the process")[2].partition("\n## ")[0]
    rows = [row.split("|") for row in section.splitlines() if row.startswith("| `")]
    listed = {row[1].strip().strip("`"): row[2].strip() for row in rows}
    declared: dict[str, set[str]] = {}
    for path in SOURCES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call) and name_of(node.func) == "Slot":
                words = ast.literal_eval(node.args[0])
                declared.setdefault(path.relative_to(ROOT).as_posix(), set()).add(words)
    assert listed == {place: "; ".join(sorted(words)) for place, words in declared.items()}
    assert {slot.name for slot in slots()} <= {*chain.from_iterable(declared.values())}
