"""The form of the benchmarks' result, and the statistics in it."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import torch

from benchmarks import models, python_side
from benchmarks.table import Row, format_table, to_json
from benchmarks.timing import interleave, median, percentile, ratios, take_turns

ROWS = [
    Row(name="step", value=1.25, unit="ms", bar=1.5, spread=(1.0, 2.0), peers={"debugpy": 44.7}),
    Row(name="run_chain", value=1.2, unit="x", bar=1.05, note="forward 3 ms"),
    Row(name="broken", value=None, unit="", note="OSError()"),
]


def test_the_table_has_a_line_per_row_that_says_whether_the_bar_is_met():
    assert format_table(ROWS).splitlines() == [
        "row        ours     p10 - p90  bar   met  peers",
        "step       1.25 ms  1 - 2      1.5   yes  debugpy 44.7",
        "run_chain  1.2 x               1.05  NO   forward 3 ms",
        "broken     failed                         OSError()",
    ]


def test_json_names_every_figure():
    result = to_json(ROWS, "2.13.0")
    assert result["torch"] == "2.13.0"
    assert result["rows"][0] == {
        "name": "step",
        "value": 1.25,
        "unit": "ms",
        "bar": 1.5,
        "met": True,
        "peers": {"debugpy": 44.7},
        "spread": [1.0, 2.0],
    }
    assert [row["met"] for row in result["rows"]] == [True, False, None]


def test_contenders_take_turns_in_changing_order():
    calls: list[str] = []

    def call(name: str) -> float:
        calls.append(name)
        return 1.0

    times = take_turns({"a": partial(call, "a"), "b": partial(call, "b")}, seconds=0)
    warmup, *rounds = ["".join(calls[i : i + 2]) for i in range(0, len(calls), 2)]
    assert warmup == "ab"
    assert set(rounds) == {"ab", "ba"}
    assert times == {"a": [1.0] * 7, "b": [1.0] * 7}


def test_interleave_measures_seconds():
    times = interleave({"nothing": lambda: None}, seconds=0)
    assert len(times["nothing"]) == 7
    assert all(0 <= value < 1 for value in times["nothing"])


def test_ratios_are_per_round():
    assert ratios([2.0, 9.0], [1.0, 3.0]) == [2.0, 3.0]
    assert median([3.0, 1.0, 2.0]) == 2.0
    assert percentile([4.0, 1.0, 3.0, 2.0], 50) == 3.0


@pytest.mark.parametrize("name", ["chain", "chain_1500", "gigabyte"])
def test_measured_graphs_run(name: str):
    module, inputs = getattr(models, name)()
    assert isinstance(module(*inputs), torch.Tensor)


def test_an_unknown_row_is_a_usage_error():
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "benchmarks", "--only", "nothing"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no row is named nothing" in done.stderr


def test_a_session_of_the_benchmarks_answers_when_it_is_asked_for_a_child_session(monkeypatch):
    monkeypatch.setattr(python_side, "ROUNDS", 2)
    monkeypatch.setattr(python_side, "PATIENCE_S", 20.0)
    (row,) = python_side.idle()
    assert row.name == "step_python_idle"
    assert row.value is not None
    assert row.value > 0
