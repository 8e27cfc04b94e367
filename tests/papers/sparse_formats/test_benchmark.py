"""``benchmarks.sparse`` on small matrices: what it makes up, measures and records."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks import record, sparse
from solvers.core.device import cpu
from solvers.papers.sparse_formats.formats import from_scipy
from solvers.papers.sparse_formats.machine import Machine

MACHINE = Machine("some", "cpu", 1e10, 1e11, 2**25, 1e-6)


@pytest.mark.parametrize("pattern", sparse.PATTERNS)
def test_patterns_have_the_nonzeros_asked_for(pattern):
    matrix = sparse.PATTERNS[pattern](40_000, np.random.default_rng(0))
    more = sparse.DENSE_ROW if pattern == "one dense row" else 0
    assert 40_000 <= matrix.nnz <= 60_000 + more
    assert matrix.has_sorted_indices
    assert matrix.indices.max() < matrix.shape[1]


def test_patterns_are_what_their_names_say():
    generator = np.random.default_rng(0)
    lengths = {
        name: np.diff(make(40_000, generator).indptr) for name, make in sparse.PATTERNS.items()
    }
    assert set(lengths["random"]) == set(lengths["banded"]) == {8}
    assert sorted(set(lengths["one dense row"])) == [4, sparse.DENSE_ROW]
    assert lengths["power law"].max() > 50 * np.median(lengths["power law"])


def test_measuring_compares_all_formats_with_scipy():
    matrix = sparse.random_matrix(4000, np.random.default_rng(0))
    row = sparse.measure(cpu(), MACHINE, "small", from_scipy(matrix, cpu()))
    assert {c["label"] for c in row["candidates"]} >= {"csr", "coo", "ell", "sell"}
    assert row["graph us"] == min(c["graph us"] for c in row["candidates"])
    assert row["scipy us"] > 0.0
    assert row["cusparse us"] is None
    assert row["cusparse failed"]
    assert row["of the best"] == 1.0
    for candidate in row["candidates"]:
        share = candidate["predicted us"] / candidate["graph us"]
        assert candidate["of roofline"] == pytest.approx(share)


def test_summary_names_the_worst_matrix(capsys):
    rows = [
        {"matrix": "a", "graph us": 2.0, "cusparse us": 4.0, "of the best": 1.0},
        {"matrix": "b", "graph us": 3.0, "cusparse us": 1.5, "of the best": 2.0},
        {"matrix": "c", "graph us": 3.0, "cusparse us": None, "of the best": 1.0},
    ]
    sparse.print_summary(rows)
    told = capsys.readouterr().out
    assert "1.000 in the geometric mean over 2 matrices" in told
    assert "2.000 times the best of both at worst (b)" in told


def test_whole_run_writes_its_record(monkeypatch, tmp_path):
    words = ["sparse", "--instances", "--nonzeros", "2e3", "--device", "cpu"]
    monkeypatch.setattr("sys.argv", words)
    monkeypatch.setattr(sparse, "measure_machine", lambda device: MACHINE)
    monkeypatch.setattr(sparse, "DENSE_ROW", 300)
    written = []

    def write(name, content, **more):
        written.append(record.write_record(name, content, folder=tmp_path, **more))

    monkeypatch.setattr(sparse, "write_record", write)
    sparse.main()
    content = json.loads(written[0].read_text())
    assert len(content["rows"]) == 2 * len(sparse.PATTERNS)
    assert content["machine model"]["memory_bandwidth"] == 1e10
