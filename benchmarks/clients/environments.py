"""An environment and the sources for each project, in a folder that is kept."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.clients.projects import Project

OF_GPU_BRIDGE = ("highspy>=1.15", "numpy>=1.26", "rich>=13", "scipy>=1.11")
"""What gpu-bridge needs besides Pyomo and PuLP; itself it comes from this tree."""

WITH_TESTS = ("pytest", "pytest-timeout", "pyomo")


def python_of(project: Project, cache: Path) -> Path:
    """Return the Python of a project's environment, made at the first use."""
    folder = cache / "environments" / project.name
    python = folder / "bin" / "python"
    done = folder / "complete"
    if done.exists():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    wanted = (*project.requirements, *OF_GPU_BRIDGE, *WITH_TESTS)
    pinned = {item.partition("<")[0] for item in project.requirements}
    packages = [item for item in wanted if item in project.requirements or item not in pinned]
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, *packages], check=True)
    done.touch()
    return python


def sources_of(project: Project, cache: Path) -> Path:
    """Return the folder with a project's tests, fetched at the first use."""
    folder = cache / "sources" / project.name
    if not folder.exists():
        address = f"https://github.com/{project.repository}"
        clone = ["git", "clone", "--quiet", "--depth", "1", "--branch", project.tag]
        subprocess.run([*clone, address, folder], check=True)
    if not project.apart:
        return folder
    apart = cache / "sources" / f"{project.name}-tests"
    for test in project.tests:
        origin = (folder / test).parent
        if not (apart / origin.name).exists():
            shutil.copytree(origin, apart / origin.name)
    return apart
