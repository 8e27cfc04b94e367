"""Shares follow recent gains, and fall back where nothing is gained."""

from __future__ import annotations

import pickle

import numpy as np

from solvers.mip.portfolio.credit import (
    CLAUSES,
    EARNED,
    LINEAR_DIVE,
    SWAPS,
    WALKS,
    Credit,
    Kind,
    Source,
)
from solvers.mip.solutions.incumbents import Found, Pool

RINS = Source("rins", Kind.NEIGHBOURHOODS)


class Book:
    """A pool into which points come one after the other."""

    def __init__(self) -> None:
        self.pool = Pool(8, np.arange(1))
        self.credit = Credit(self.pool)
        self._count = 0

    def find(self, objective: float, source: str) -> None:
        self._count += 1
        x = np.array([float(self._count)])
        self.pool.add(Found(x, objective, float(self._count), source))


def test_a_source_is_a_plain_name_in_another_process():
    source = pickle.loads(pickle.dumps(SWAPS))
    assert type(source) is str
    assert source == "swap moves" == SWAPS


def test_a_first_point_is_no_gain():
    book = Book()
    book.find(100.0, WALKS)
    book.credit.note(Kind.WALKS, 1.0)
    assert book.credit.bonus(Kind.WALKS) == 0.0


def test_who_gains_is_due_more_and_less_after_turns_in_vain():
    book = Book()
    book.find(100.0, WALKS)
    book.credit.note(Kind.WALKS, 1.0)
    book.find(80.0, RINS)
    book.credit.note(Kind.NEIGHBOURHOODS, 1.0)
    due = [book.credit.bonus(Kind.NEIGHBOURHOODS)]
    assert due[0] > 0.5 * EARNED
    assert book.credit.bonus(Kind.WALKS) == 0.0
    for _ in range(4):
        book.credit.note(Kind.NEIGHBOURHOODS, 1.0)
        due.append(book.credit.bonus(Kind.NEIGHBOURHOODS))
    assert due == sorted(due, reverse=True)
    assert due[-1] < 0.3 * EARNED


def test_gains_are_divided_by_the_time_they_took():
    book = Book()
    book.find(100.0, WALKS)
    book.credit.note(Kind.WALKS, 1.0)
    book.find(90.0, WALKS)
    book.credit.note(Kind.WALKS, 0.5)
    book.find(81.0, Source("crossover", Kind.NEIGHBOURHOODS))
    book.credit.note(Kind.NEIGHBOURHOODS, 5.0)
    assert book.credit.bonus(Kind.WALKS) > 3.0 * book.credit.bonus(Kind.NEIGHBOURHOODS) > 0.0
    assert book.credit.bonus(Kind.WALKS) + book.credit.bonus(Kind.NEIGHBOURHOODS) <= EARNED


def test_each_improvement_is_credited_to_whoever_found_it():
    book = Book()
    book.find(100.0, WALKS)
    book.credit.note(None, 1.0)
    book.find(90.0, WALKS)
    book.find(70.0, LINEAR_DIVE)
    book.find(80.0, CLAUSES)  # no improvement by then
    book.find(60.0, "highs")
    book.credit.note(Kind.CLAUSES, 1.0)
    assert book.credit.bonus(Kind.CLAUSES) == 0.0
    book.credit.note(Kind.WALKS, 1.0)
    book.credit.note(Kind.DIVES, 1.0)
    assert book.credit.bonus(Kind.DIVES) > book.credit.bonus(Kind.WALKS) > 0.0


def test_trickles_earn_little():
    book = Book()
    book.find(100.0, WALKS)
    book.credit.note(Kind.WALKS, 1.0)
    for step in range(20):
        book.find(100.0 - 1e-5 * (step + 1), WALKS)
        book.credit.note(Kind.WALKS, 1.0)
    assert book.credit.bonus(Kind.WALKS) < 0.01 * EARNED
