"""An environment and the sources for each project, in a folder that is kept."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
from functools import cache
from pathlib import Path

from benchmarks.clients.projects import Project

ROOT = Path(__file__).resolve().parents[2]

OF_GPU_BRIDGE = ("highspy>=1.15", "numpy>=1.26", "rich>=12", "scipy>=1.11")
"""What gpu-bridge needs besides Pyomo and PuLP."""

WITH_TESTS = ("pytest", "pytest-timeout", "pyomo", "pulp<4")

GITHUB = "https://github.com"

PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")


def python_of(project: Project, cache: Path) -> Path:
    """Return the Python of a project's environment, made at the first use."""
    folder = cache / "environments" / project.name
    python = folder / "bin" / "python"
    done = folder / "complete"
    if done.exists():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([_interpreter(project), "-m", "venv", folder], check=True)
    named = {re.split("[<>=!~ ]", item)[0].lower() for item in project.requirements}
    others = (*OF_GPU_BRIDGE, *WITH_TESTS)
    more = [item for item in others if re.split("[<>=]", item)[0] not in named]
    subprocess.run([python, *PIP, "install", *project.requirements, *more], check=True)
    done.touch()
    return python


def install_ours(project: Project, cache: Path) -> None:
    """Put gpu-bridge as it is in this tree into a project's environment."""
    wheel = _wheel(_interpreter(project), cache)
    install = ("install", "--force-reinstall", "--no-deps", wheel)
    subprocess.run([python_of(project, cache), *PIP, *install], check=True)


def _interpreter(project: Project) -> str:
    """Return a Python that a project runs on.

    Raises
    ------
    RuntimeError
        There is none on the path.
    """
    if sys.version_info[:2] >= tuple(map(int, project.python.split("."))):
        return sys.executable
    found = shutil.which(f"python{project.python}")
    if found is None:
        raise RuntimeError(
            f"{project.name} needs Python {project.python}, which is not on the path."
        )
    return found


@cache
def _wheel(interpreter: str, folder: Path) -> Path:
    """Build the wheel of this tree for a Python; what was compiled before is kept."""
    wheels = folder / "wheels" / Path(interpreter).resolve().name
    shutil.rmtree(wheels, ignore_errors=True)
    build = f"--config-settings=build-dir={folder}/build/{{wheel_tag}}"
    into = ("--wheel-dir", str(wheels), str(ROOT))
    command = [interpreter, *PIP, "wheel", "--no-deps", build, *into]
    subprocess.run(command, check=True)
    (wheel,) = wheels.glob("*.whl")
    return wheel


def sources_of(project: Project, cache: Path, origin: str = GITHUB) -> Path:
    """Return the folder with a project's tests, fetched at the first use.

    ``origin`` holds the repositories by the names that they have on GitHub: an address or a folder.
    """
    folder = cache / "sources" / project.name
    if not folder.exists():
        part = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        if project.repository:
            _fetch(f"{origin}/{project.repository}", project.revision, part)
        else:
            _unpack(python_of(project, cache), project.requirements[0], part)
        part.rename(folder)
    if not project.apart:
        return folder
    apart = cache / "sources" / f"{project.name}-tests"
    for test in project.tests:
        of_test = (folder / test).parent
        if not (apart / of_test.name).exists():
            shutil.copytree(of_test, apart / of_test.name)
    return apart


def provide_examples(project: Project, sources: Path, user_cache: Path) -> None:
    """Put data of the sources where the project looks before it asks the web."""
    if not project.examples:
        return
    pattern, place = project.examples
    (user_cache / place).mkdir(parents=True, exist_ok=True)
    for path in sources.glob(pattern):
        shutil.copy(path, user_cache / place / path.name.replace("-", "_"))


def _fetch(address: str, revision: str, folder: Path) -> None:
    """Bring one revision of a repository into a folder."""
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    of_folder = ["git", "-C", str(folder)]
    subprocess.run([*of_folder, "fetch", "--quiet", "--depth", "1", address, revision], check=True)
    subprocess.run([*of_folder, "checkout", "--quiet", "FETCH_HEAD"], check=True)


def _unpack(python: Path, requirement: str, folder: Path) -> None:
    """Bring a package's source archive from the package index and unpack it into a folder."""
    download = ("download", "--no-deps", "--no-binary", ":all:", "--dest", folder, requirement)
    subprocess.run([python, *PIP, *download], check=True)
    (archive,) = folder.iterdir()
    with tarfile.open(archive) as opened:
        top = opened.getnames()[0].partition("/")[0]
        opened.extractall(folder, filter="data")
    archive.unlink()
    for path in (folder / top).iterdir():
        path.rename(folder / path.name)
    (folder / top).rmdir()
