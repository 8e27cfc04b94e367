"""Which files of the program a solve enters: what a reader of that solve has to hold in the head.

    python -m benchmarks.entered_files MODEL [--method pdlp] [--time-limit 60] [--all]

Two solves of the model run in one process, on a CPU with two threads; of the second each function
called counts, in whatever thread, and each file with such a function. What is imported and not
called does not count. ``--all`` names the functions.
"""

from __future__ import annotations

import argparse
import collections
import sys
import threading
import types
from pathlib import Path
from typing import Any

import gpu_bridge as gb

ROOT = Path(__file__).resolve().parents[1]

WINGS = ("gpu_bridge", "solvers")


def main() -> None:
    """Print the files, by folder, and how many there are."""
    arguments = _arguments()
    options = {"method": arguments.method, "time_limit": arguments.time_limit}
    found = entered(str(arguments.model), {**options, "device": "cpu", "threads": 2})
    folders = collections.Counter("/".join(file.split("/")[:2]) for file in found)
    for file, functions in sorted(found.items()):
        print(file, ": ".join(["", ", ".join(sorted(functions))]) if arguments.all else "")
    print(*(f"{count} {folder}" for folder, count in sorted(folders.items())), sep="\n")
    print(f"{len(found)} files, {sum(map(len, found.values()))} functions")


def entered(model: str, options: dict[str, Any]) -> dict[str, set[str]]:
    """Return the files that the second solve of a model enters, and the functions of each."""
    codes: set[types.CodeType] = set()

    def look(frame: types.FrameType, event: str, _: object) -> None:
        if event == "call":
            codes.add(frame.f_code)

    threading.setprofile(look)
    sys.setprofile(look)
    gb.solve(gb.read(model), **options)
    problem = gb.read(model)
    codes.clear()
    gb.solve(problem, **options)
    sys.setprofile(None)
    threading.setprofile(None)
    found: dict[str, set[str]] = {}
    for code in tuple(codes):
        path = Path(code.co_filename)
        inside = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in WINGS
        if inside and code.co_name != "<module>":
            found.setdefault(str(path.relative_to(ROOT)), set()).add(code.co_name)
    return found


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("model", type=Path)
    parser.add_argument("--method", default="auto")
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--all", action="store_true", help="name the functions, too")
    return parser.parse_args()


if __name__ == "__main__":
    main()
