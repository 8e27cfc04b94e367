"""One model in some ways: solved, judged, and what is wrong shrunk and kept."""

from __future__ import annotations

import json
import os
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gpu_bridge.report.log_text import versions
from solvers.core.problem import Problem
from tests.campaign.claims import Claim
from tests.campaign.generators import make_model
from tests.campaign.judge import judge
from tests.campaign.shrink import shrink
from tests.campaign.truth import Knowledge, know
from tests.campaign.verdicts import Ruling, Verdict
from tests.campaign.ways import Way, draw_ways
from tests.campaign.written import mps_text

LATE_SECONDS = 30.0
PATIENCE = 5.0
"""How late a limit may be kept here, where other processes compute; limits have tests of theirs."""

SHRINK_SECONDS = 20.0
SHRUNK_OF_A_SORT, KEPT_OF_A_SORT = 2, 20
"""Findings of the same kind, method and verdict that a process shrinks, and that it keeps in files;
later ones are counted."""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Finding:
    """Something that was found about a model solved in some way."""

    kind: str
    seed: int
    way: str
    verdict: Verdict
    detail: str
    file: str = ""

    def __str__(self) -> str:
        where = f" [{self.file}]" if self.file else ""
        return f"{self.verdict.value}: {self.kind} {self.seed}, {self.way}: {self.detail}{where}"


@dataclass
class Trial:
    """What came of one model."""

    kind: str
    seed: int
    solves: int = 0
    seconds: float = 0.0
    is_settled: bool = True
    findings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True)
class Solved:
    """A problem as a door left it, and what was claimed of it, or why nothing was."""

    problem: Problem
    claim: Claim | None
    seconds: float
    error: str = ""


class Examiner:
    """Tries models, and remembers how many findings of each sort there were."""

    def __init__(self, folder: Path, files: Path, device: str, ways: int, tell: Tell) -> None:
        self._folder = folder
        self._files = files
        self._device = device
        self._ways = ways
        self._tell = tell
        self._sorts: Counter[tuple[str, str, Verdict]] = Counter()

    def try_model(self, kind: str, seed: int) -> Trial:
        """Solve a model in some ways and judge what is claimed."""
        trial = Trial(kind, seed)
        began = time.monotonic()
        problem = make_model(kind, seed)
        rng = np.random.default_rng([zlib.crc32(kind.encode()), seed, 1])
        answers = [
            (way, solved)
            for way in draw_ways(problem, rng, self._ways, self._device)
            for solved in self._solve(problem, way)
        ]
        claims = [solved.claim for _, solved in answers if solved.claim is not None]
        known = know(problem, claims)
        trial.is_settled = known.is_settled
        trial.solves = len(answers)
        self._tell("judging")
        for way, solved in answers:
            about = known if solved.problem is problem else know(solved.problem, _some(solved))
            for ruling in rule(about, solved, way):
                trial.findings.append(self._keep(trial, solved, way, ruling, about))
        trial.seconds = time.monotonic() - began
        return trial

    def _solve(self, problem: Problem, way: Way) -> Iterator[Solved]:
        self._tell(str(way))
        yield from solve(problem, way, self._files)

    def _keep(
        self, trial: Trial, solved: Solved, way: Way, ruling: Ruling, known: Knowledge
    ) -> Finding:
        verdict, problem, detail = ruling.verdict, solved.problem, ruling.detail
        sort = (trial.kind, way.method, verdict)
        self._sorts[sort] += 1
        is_shrunk = verdict.is_failure and self._sorts[sort] <= SHRUNK_OF_A_SORT
        if is_shrunk:
            problem, detail = self._shrink(problem, way, ruling)
        finding = Finding(trial.kind, trial.seed, str(way), verdict, detail)
        if not verdict.is_kept or self._sorts[sort] > KEPT_OF_A_SORT:
            return finding
        name = f"{verdict.value}-{trial.kind}-{trial.seed}-{way.method}".replace(" ", "_")
        record = {
            **{"kind": trial.kind, "seed": trial.seed, "verdict": verdict.value},
            **{"door": way.door, "options": dict(way.options), "detail": detail},
            **{"claim": str(solved.claim), "error": solved.error, "truth": str(known)},
            **{"seconds": solved.seconds, "is_shrunk": is_shrunk, "versions": versions()},
        }
        file = free_name(self._folder, name)
        file.write_text(mps_text(problem), encoding="utf-8")
        file.with_suffix(".json").write_text(json.dumps(record, indent=1), encoding="utf-8")
        return Finding(trial.kind, trial.seed, str(way), verdict, detail, file.name)

    def _shrink(self, problem: Problem, way: Way, ruling: Ruling) -> tuple[Problem, str]:
        """Return a smaller model with the same verdict, and what is wrong there."""
        details = [ruling.detail]

        def stays(smaller: Problem) -> bool:
            self._tell(f"shrinking {way}")
            at_work(self._folder, os.getpid()).write_text(mps_text(smaller), encoding="utf-8")
            for solved in solve(smaller, way, self._files):
                for found in rule(know(solved.problem, _some(solved)), solved, way):
                    if found.verdict is ruling.verdict and _is_like(found, ruling):
                        details.append(found.detail)
                        return True
            return False

        small = shrink(problem, stays, SHRINK_SECONDS)
        at_work(self._folder, os.getpid()).unlink(missing_ok=True)
        return small, details[-1]


def _is_like(found: Ruling, first: Ruling) -> bool:
    """Whether two exceptions are of a sort: the same class with the same first words."""
    words = [ruling.detail.split()[:4] for ruling in (found, first)]
    return first.verdict is not Verdict.EXCEPTION or words[0] == words[1]


def solve(problem: Problem, way: Way, files: Path) -> list[Solved]:
    """Solve a problem in some way and return what is claimed; exceptions are told, not raised."""
    began = time.monotonic()
    try:
        answers = way.solve(problem, files)
    except Exception as error:  # whatever it is, it is a finding
        text = "".join(traceback.format_exception(error, limit=-4))
        return [Solved(problem, None, time.monotonic() - began, text)]
    seconds = time.monotonic() - began
    return [Solved(member, claim, seconds) for member, claim in answers]


def rule(known: Knowledge, solved: Solved, way: Way) -> list[Ruling]:
    """Return what is wrong with what was solved."""
    if solved.claim is None:
        return [Ruling(Verdict.EXCEPTION, solved.error.strip().splitlines()[-1])]
    rulings = judge(known, solved.claim, way.options)
    limit = float(way.options.get("time_limit", LATE_SECONDS))
    if solved.seconds > limit + (PATIENCE if "time_limit" in way.options else 0.0):
        rulings.append(Ruling(Verdict.LATE, f"{solved.seconds:.0f} s"))
    return rulings


def at_work(folder: Path, process: int) -> Path:
    """Return the file of the model that a process solves while it shrinks one."""
    return folder / f"at-work-{process}.mps"


def free_name(folder: Path, name: str) -> Path:
    """Return the path of a new MPS file in a folder."""
    tries = (folder / f"{name}{'' if k == 0 else f'-{k}'}.mps" for k in range(10_000))
    return next(path for path in tries if not path.exists())


def _some(solved: Solved) -> list[Claim]:
    return [] if solved.claim is None else [solved.claim]
