"""Install the wheel in a folder into a fresh environment, without a compiler, and solve with it.

Two processes begin at once, and may write neither into the environment nor at home (root may, so a
run as root does not try that). Then HiGHS solves without the compiled part.

    python -m tests.wheel dist
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

PROGRAM = Path(__file__).with_name("wheel_program.py")
WITHOUT = """
import gpu_bridge as gb
problem = gb.Problem.from_arrays([1.0, 2.0], [[1.0, 1.0]], [3.0])
assert gb.solve(problem).objective == gb.solve(problem, method="highs").objective == 3.0
try:
    gb.solve(problem, method="pdlp")
except gb.EngineError as error:
    assert "this installation has none for Python" in str(error), error
else:
    raise AssertionError("PDLP ran without the compiled part")
"""


def newest_wheel(folder: Path) -> Path:
    """Return the wheel that was built last."""
    return max(folder.glob("gpu_bridge-*.whl"), key=lambda path: path.stat().st_mtime)


def main(folder: Path) -> None:
    """Make the environment, install, and run the program where no source tree is in the way."""
    with tempfile.TemporaryDirectory() as made:
        home = Path(made)
        venv.create(home / "venv", with_pip=True)
        python = home / "venv" / "bin" / "python"
        install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        subprocess.run([python, *install, newest_wheel(folder).resolve()], check=True)
        bare = {name: text for name, text in os.environ.items() if name.startswith(("PIP", "LANG"))}
        bare |= {"PATH": str(python.parent), "HOME": made}
        (core,) = (home / "venv").glob("lib/python*/site-packages/solvers/native/_core*.so")
        allow_writing(home, False)
        try:
            run([python, "-I", str(PROGRAM.resolve())], made, bare, copies=2)
        finally:
            allow_writing(home, True)
        core.unlink()
        run([python, "-I", "-c", WITHOUT], made, bare)


def run(command: list[str | Path], folder: str, bare: dict[str, str], copies: int = 1) -> None:
    """Run copies of a program at once, and wait for all."""
    started = [subprocess.Popen(command, cwd=folder, env=bare) for _ in range(copies)]
    for code in [one.wait() for one in started]:
        if code:
            raise subprocess.CalledProcessError(code, command)


def allow_writing(folder: Path, allowed: bool) -> None:
    """Let this user write into a folder and all below it, or not."""
    for one in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        if not one.is_symlink():
            one.chmod(0o755 if allowed else 0o555)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
