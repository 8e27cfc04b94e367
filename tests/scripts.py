"""Running scripts as a user would, and functions of tests, in processes of their own.

A process that has loaded what we did not write, and none of our modules, is copied for each script,
so that large packages are not loaded again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

COPIES = """
import json, os, runpy, sys, warnings
import highspy, matplotlib, numpy, pulp, pyomo.environ, scipy.sparse

assert not {"gpu_bridge", "solvers"} & set(sys.modules)
print("ready", flush=True)
while line := sys.stdin.readline():
    script, arguments, folder, output = json.loads(line)
    copy = os.fork()
    if not copy:
        said = os.open(output, os.O_WRONLY | os.O_CREAT)
        for number, file in enumerate((os.open(os.devnull, os.O_RDONLY), said, said)):
            os.dup2(file, number)
        os.chdir(folder)
        sys.argv = [script, *arguments]
        sys.path[0] = os.path.dirname(script)
        warnings.filterwarnings("error", category=DeprecationWarning, module="__main__")
        runpy.run_path(script, run_name="__main__")
        sys.exit()
    _, status = os.waitpid(copy, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


def in_a_process(function: Callable[[], object]) -> None:
    """Call a function of a test module where nothing else has started threads, as Ray does.

    A copy of a process with threads that know nothing of copies may fail for reasons of theirs.
    """
    subprocess.run(
        [sys.executable, "-c", f"import {function.__module__} as m; m.{function.__name__}()"],
        cwd=Path(__file__).parents[1],
        timeout=120,
        check=True,
    )


class Scripts:
    """Runs scripts one after the other."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, script: Path, arguments: Sequence[str], folder: Path) -> str:
        """Run a script in a folder, with calls of what is old as errors, and return its output."""
        output = folder / "output.txt"
        task = [str(script), list(arguments), str(folder), str(output)]
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()
        code = self._answer()
        text = output.read_text(encoding="utf-8")
        assert code == "0", f"{script} ended with {code or 'its process'}:\n{text}"
        return text

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@contextmanager
def scripts() -> Iterator[Scripts]:
    """Start the process that is copied, and end it."""
    environment = {
        **os.environ,
        "PYTHONIOENCODING": "utf-8",
        "OPENBLAS_NUM_THREADS": "1",  # who has other threads cannot be copied safely
        "MPLBACKEND": "Agg",
    }
    with subprocess.Popen(
        [sys.executable, "-c", COPIES],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        made = Scripts(process)
        assert made._answer() == "ready"
        try:
            yield made
        finally:
            assert process.stdin is not None
            process.stdin.close()
