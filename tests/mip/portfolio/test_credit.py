"""Shares follow recent gains, and fall back where nothing is gained."""

from __future__ import annotations

import numpy as np

from solvers.mip.portfolio.credit import (
    CLAUSES,
    DIVES,
    EARNED,
    NEIGHBOURHOODS,
    SWAPS,
    WALKS,
    Credit,
)
from solvers.mip.solutions.incumbents import Found, Pool
from solvers.mip.table import kind_of
from tests.cases import through


class Book:
    """A pool into which points come one after the other."""

    def __init__(self) -> None:
        self.pool = Pool(8, np.arange(1))
        self.credit = Credit(self.pool, kind_of)
        self._count = 0

    def find(self, objective: float, source: str) -> None:
        self._count += 1
        x = np.array([float(self._count)])
        self.pool.add(Found(x, objective, float(self._count), source))


@through(
    ("source", "kind"),
    [
        ("local search", WALKS),
        ("local search on the GPU", ""),
        ("lazy clause", CLAUSES),
        ("dive dfs locks", DIVES),
        ("linear dive", DIVES),
        ("swap moves", SWAPS),
        ("rins", NEIGHBOURHOODS),
        ("crossover", NEIGHBOURHOODS),
        ("highs", ""),
        ("one-opt, two-opt", ""),
    ],
)
def test_sources_belong_to_kinds(source, kind):
    assert kind_of(source) == kind


def test_a_first_point_is_no_gain():
    book = Book()
    book.find(100.0, "local search")
    book.credit.note(WALKS, 1.0)
    assert book.credit.bonus(WALKS) == 0.0


def test_who_gains_is_due_more_and_less_after_turns_in_vain():
    book = Book()
    book.find(100.0, "local search")
    book.credit.note(WALKS, 1.0)
    book.find(80.0, "rins")
    book.credit.note(NEIGHBOURHOODS, 1.0)
    due = [book.credit.bonus(NEIGHBOURHOODS)]
    assert due[0] > 0.5 * EARNED
    assert book.credit.bonus(WALKS) == 0.0
    for _ in range(4):
        book.credit.note(NEIGHBOURHOODS, 1.0)
        due.append(book.credit.bonus(NEIGHBOURHOODS))
    assert due == sorted(due, reverse=True)
    assert due[-1] < 0.3 * EARNED


def test_gains_are_divided_by_the_time_they_took():
    book = Book()
    book.find(100.0, "local search")
    book.credit.note(WALKS, 1.0)
    book.find(90.0, "local search")
    book.credit.note(WALKS, 0.5)
    book.find(81.0, "mutation")
    book.credit.note(NEIGHBOURHOODS, 5.0)
    assert book.credit.bonus(WALKS) > 3.0 * book.credit.bonus(NEIGHBOURHOODS) > 0.0
    assert book.credit.bonus(WALKS) + book.credit.bonus(NEIGHBOURHOODS) <= EARNED


def test_each_improvement_is_credited_to_whoever_found_it():
    book = Book()
    book.find(100.0, "local search")
    book.credit.note("", 1.0)
    book.find(90.0, "local search")
    book.find(70.0, "dive locks")
    book.find(80.0, "lazy clause")  # no improvement by then
    book.find(60.0, "highs")
    book.credit.note(CLAUSES, 1.0)
    assert book.credit.bonus(CLAUSES) == 0.0
    book.credit.note(WALKS, 1.0)
    book.credit.note(DIVES, 1.0)
    assert book.credit.bonus(DIVES) > book.credit.bonus(WALKS) > 0.0


def test_trickles_earn_little():
    book = Book()
    book.find(100.0, "local search")
    book.credit.note(WALKS, 1.0)
    for step in range(20):
        book.find(100.0 - 1e-5 * (step + 1), "local search")
        book.credit.note(WALKS, 1.0)
    assert book.credit.bonus(WALKS) < 0.01 * EARNED
