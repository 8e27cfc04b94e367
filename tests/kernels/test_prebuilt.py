"""Which of a wheel's files a GPU gets, older and newer than the wheel."""

from __future__ import annotations

import pytest

from solvers.kernels import device_code
from solvers.kernels.device_code import file_stem, find_compiled, machine_code, portable_code

STEM = file_stem("solvers.pdlp.kernels", "step", "text", ("-DREAL=double",))


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """A wheel with machine code for three generations and portable code."""
    for name in (*(machine_code(STEM, one) for one in (80, 90, 120)), portable_code(STEM)):
        (tmp_path / name).touch()
    monkeypatch.setattr(device_code, "_folder", lambda: tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("generation", "runs"),
    [
        (75, None),
        (80, "sm_80.cubin"),
        (87, "sm_80.cubin"),
        (90, "sm_90.cubin"),
        (103, "compute_80.ptx"),
        (120, "sm_120.cubin"),
        (121, "sm_120.cubin"),
        (200, "compute_80.ptx"),
    ],
)
def test_a_gpu_gets_the_nearest_code_that_it_can_run(wheel, generation, runs):
    found = find_compiled(STEM, generation)
    assert runs == (None if found is None else found.name.removeprefix(f"{STEM}."))


def test_what_is_not_there_is_not_found(wheel, monkeypatch):
    for source, option in (("text", "-DREAL=float"), ("other text", "-DREAL=double")):
        other = file_stem("solvers.pdlp.kernels", "step", source, (option,))
        assert find_compiled(other, 90) is None
    (wheel / portable_code(STEM)).unlink()
    assert find_compiled(STEM, 100) is None
    monkeypatch.setattr(device_code, "_folder", lambda: None)
    assert find_compiled(STEM, 90) is None
