"""The outside projects: pinned packages, where their tests are, and how much of them is run.

A suite of an hour is cut to what takes minutes; ``cut`` says what is left out.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Project:
    """A project that solves models, at one version.

    Parameters
    ----------
    name : str
        Of its environment and of its folder of sources.
    requirements : tuple of str
        For pip: the package at its version, and what its tests need besides.
    repository, revision : str
        Where the sources with the tests are: ``owner/name`` on GitHub, and a tag or commit.
    tests : tuple of str
        Paths for pytest in the sources; or programs, if they end in a pattern with ``*``.
    apart : bool
        The tests are copied out of the sources, whose package would hide the one installed.
    cut : str
        What of the suite is left out.
    python : str
        The oldest Python that it runs on.
    """

    name: str
    requirements: tuple[str, ...]
    repository: str
    revision: str
    tests: tuple[str, ...]
    apart: bool = False
    cut: str = ""
    python: str = "3.10"

    @property
    def has_programs(self) -> bool:
        """Whether programs are run instead of tests."""
        return any("*" in path for path in self.tests)


LOPF = ("ac_dc", "basic_constraints", "storage", "unit_commitment")

PROJECTS = (
    Project(
        "oemof",
        ("oemof.solph==0.6.5", "pulp<4"),
        *("oemof/oemof-solph", "v0.6.5"),
        ("tests",),
    ),
    Project(
        "spopt",
        ("spopt==0.7.0", "pulp<4"),
        *("pysal/spopt", "v0.7.0"),
        ("spopt/tests/test_locate",),
        cut="regions, which solve no models but for one",
    ),
    Project(
        "pulp",
        ("pulp==3.3.2",),
        *("coin-or/pulp", "3.3.2"),
        ("examples/*.py",),
    ),
    Project(
        "egret",
        ("gridx-egret==0.6.2", "coramin", "pulp<4"),
        *("grid-parity-exchange/Egret", "0.6.0"),
        ("egret/models/tests/test_unit_commitment.py",),
        apart=True,
        cut="all but unit commitment",
    ),
    Project(
        "mpi-sppy",
        ("mpi-sppy==0.14.0", "pandas", "sortedcollections", "pulp<4"),
        *("Pyomo/mpi-sppy", "0.14.0"),
        ("mpisppy/tests/test_ef_ph.py", "mpisppy/tests/test_conf_int_farmer.py"),
        cut="all but the extensive form and progressive hedging of farmer, sizes and hydro",
    ),
    Project(
        "vrpy",
        ("vrpy==0.5.1", "pulp==2.9.0", "networkx==2.8.8", "pytest<8"),
        *("Kuifje02/vrpy", "v0.5.1"),
        ("tests",),
    ),
    Project(
        "pypsa",
        ("pypsa==1.3.0", "pulp<4"),
        *("PyPSA/PyPSA", "v1.3.0"),
        tuple(f"test/test_lopf_{part}.py" for part in LOPF),
        cut="all but four files of optimal power flow",
    ),
    Project(
        "linopy",
        ("linopy==0.9.1", "pulp<4"),
        *("PyPSA/linopy", "v0.9.1"),
        tuple(
            f"test/test_{part}.py"
            for part in ("optimization", "solvers", "infeasibility", "examples")
        ),
        cut="what solves no models",
    ),
    Project(
        "switch",
        ("switch-model==2.0.9.post0", "pulp<4"),
        *("switch-model/switch", "2.0.9.post0"),
        ("tests/examples_test*.py",),
        cut="upgrades of old data, which solve nothing",
    ),
    Project(
        "pyfrontier",
        ("Pyfrontier==1.1.1", "pandas", "pulp<4"),
        *("NibuTake/PyDEA", "main"),
        ("tests",),
    ),
)
