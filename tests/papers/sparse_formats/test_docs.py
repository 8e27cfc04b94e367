"""The example of docs/sparse.md runs as it stands there."""

from __future__ import annotations

from tests.locations import ROOT

PAGE = ROOT / "docs" / "sparse.md"


def test_example_runs_and_multiplies(capsys, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    code = PAGE.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    names: dict[str, object] = {}
    exec(code, names)
    assert names["y"].shape == (3000,)
    assert capsys.readouterr().out.startswith(names["fastest"].format)
