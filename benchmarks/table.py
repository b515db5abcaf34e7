"""Rows of the result, as a table for people and JSON for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.timing import median, spread


@dataclass(frozen=True, kw_only=True)
class Row:
    """One figure. `spread` is its 10th and 90th percentile; `peers` are in the same unit."""

    name: str
    value: float | None
    unit: str
    bar: float | None = None
    spread: tuple[float, float] | None = None
    peers: dict[str, float] = field(default_factory=dict)
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the bar is met; None where there is no bar or no value."""
        if self.value is None or self.bar is None:
            return None
        return self.value <= self.bar


def milliseconds(
    name: str,
    seconds: Sequence[float],
    bar: float | None = None,
    peers: Mapping[str, float] | None = None,
    note: str = "",
) -> Row:
    """The row of a latency; `seconds` of each round, `bar` and `peers` in milliseconds."""
    low, high = spread(seconds)
    return Row(
        name=name,
        value=median(seconds) * 1000,
        unit="ms",
        bar=bar,
        spread=(low * 1000, high * 1000),
        peers=dict(peers or {}),
        note=note,
    )


def to_json(rows: Sequence[Row], torch_version: str) -> dict[str, Any]:
    """The whole result, for `--json`."""
    return {"torch": torch_version, "rows": [_row_json(row) for row in rows]}


def _row_json(row: Row) -> dict[str, Any]:
    values: dict[str, Any] = {
        "name": row.name,
        "value": row.value,
        "unit": row.unit,
        "bar": row.bar,
        "met": row.met,
        "peers": row.peers,
    }
    if row.spread is not None:
        values["spread"] = list(row.spread)
    if row.note:
        values["note"] = row.note
    return values


COLUMNS = ("row", "ours", "p10 - p90", "bar", "met", "peers")


def format_row(row: Row) -> tuple[str, ...]:
    """The cells of one line."""
    peers = "  ".join(f"{name} {_number(value)}" for name, value in row.peers.items())
    notes = [part for part in (peers, row.note) if part]
    return (
        row.name,
        "failed" if row.value is None else f"{_number(row.value)} {row.unit}",
        "" if row.spread is None else " - ".join(_number(value) for value in row.spread),
        "" if row.bar is None else _number(row.bar),
        {True: "yes", False: "NO", None: ""}[row.met],
        "; ".join(notes),
    )


def format_table(rows: Sequence[Row]) -> str:
    """All rows under their headings."""
    cells = [COLUMNS, *(format_row(row) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(COLUMNS))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
