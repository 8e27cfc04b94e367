"""Install the wheel in a folder into a fresh environment, without a compiler, and solve with it.

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
        subprocess.run([python, "-I", PROGRAM.resolve()], check=True, cwd=made, env=bare)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
