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
        Where the sources with the tests are: ``owner/name`` on GitHub, and a tag or commit. Without
        them it is the source archive of the package index, which has all that the tests read.
    tests : tuple of str
        Paths for pytest in the sources; or programs, if they end in a pattern with ``*``.
    apart : bool
        The tests are copied out of the sources, whose package would hide the one installed.
    examples : tuple of str
        A pattern for data in the sources that tests would fetch from the web, and the folder of the
        user's cache where they look for it first.
    cut : str
        What of the suite is left out.
    python : str
        The oldest Python that it runs on.
    """

    name: str
    requirements: tuple[str, ...]
    tests: tuple[str, ...]
    repository: str = ""
    revision: str = ""
    apart: bool = False
    examples: tuple[str, ...] = ()
    cut: str = ""
    python: str = "3.10"

    @property
    def label(self) -> str:
        """Name and version of what is tested."""
        return f"{self.name} {self.revision}" if self.revision else self.requirements[0]

    @property
    def has_programs(self) -> bool:
        """Whether programs are run instead of tests."""
        return any("*" in path for path in self.tests)


LOPF = ("ac_dc", "basic_constraints", "storage", "unit_commitment")

PROJECTS = (
    Project("oemof", ("oemof.solph==0.6.5", "pulp<4"), ("tests",)),
    Project(
        "spopt",
        ("spopt==0.7.0", "pulp<4"),
        ("spopt/tests/test_locate",),
        cut="regions, which solve no models but for one",
    ),
    Project(
        "pulp",
        ("pulp==3.3.2",),
        ("examples/*.py",),
        *("coin-or/pulp", "3.3.2"),
    ),
    Project(
        "egret",
        ("gridx-egret==0.6.2", "coramin", "pulp<4"),
        ("egret/models/tests/test_unit_commitment.py",),
        *("grid-parity-exchange/Egret", "0.6.0"),
        apart=True,
        cut="all but unit commitment",
    ),
    Project(
        "mpi-sppy",
        ("mpi-sppy==0.14.0", "mpi4py", "mpich", "pandas", "sortedcollections", "pulp<4"),
        ("mpisppy/tests/test_ef_ph.py", "mpisppy/tests/test_conf_int_farmer.py"),
        *("Pyomo/mpi-sppy", "0.14.0"),
        cut="all but the extensive form and progressive hedging of farmer, sizes and hydro",
    ),
    Project(
        "vrpy",
        ("vrpy==0.5.1", "pulp==2.9.0", "networkx==2.8.8", "pytest<8"),
        ("tests",),
        *("Kuifje02/vrpy", "v0.5.1"),
    ),
    Project(
        "pypsa",
        ("pypsa==1.4.0", "pulp<4"),
        tuple(f"test/test_lopf_{part}.py" for part in LOPF),
        examples=("examples/networks/*/*.nc", "pypsa/examples/v1.4.0"),
        cut="all but four files of optimal power flow",
    ),
    Project(
        "linopy",
        ("linopy==0.10.1", "netcdf4", "pulp<4"),
        ("test",),
    ),
    Project(
        "switch",
        ("switch-model==2.0.9.post0", "pulp<4"),
        ("tests/examples_test*.py",),
        cut="upgrades of old data, which solve nothing",
    ),
    Project(
        "pyfrontier",
        ("Pyfrontier==1.1.1", "pandas", "pulp<4"),
        ("tests",),
        *("NibuTake/PyDEA", "main"),
    ),
    Project(
        "pydfs-lineup-optimizer",
        ("pulp==2.7.0", "pytz", "parameterized"),
        ("tests",),
        *("DimaKudosh/pydfs-lineup-optimizer", "3.6.1"),
    ),
    Project(
        "energypylinear",
        ("energypylinear==1.4.1", "hypothesis", "pulp<3"),
        ("tests",),
        *("ADGEfficiency/energy-py-linear", "v1.4.1"),
    ),
    Project(
        "calliope",
        ("calliope==0.7.0.dev7", "pandas<3", "numpy<2.3", "pytest-order"),
        ("tests/test_example_models.py", "tests/test_backend_pyomo.py"),
        *("calliope-project/calliope", "v0.7.0.dev7"),
        cut="all but the example models and the Pyomo backend",
    ),
    Project(
        "temoa",
        ("temoa==4.0.1",),
        ("tests",),
        *("TemoaProject/temoa", "v4.0.1"),
        python="3.12",
    ),
)
