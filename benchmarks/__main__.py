"""`python -m benchmarks [--json FILE] [--only NAME]...`: measure, print, and write one table."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from compileall import compile_dir
from fnmatch import fnmatch
from functools import partial
from importlib.metadata import version
from pathlib import Path

import fxdap
from benchmarks import (
    bodies,
    compiled,
    hooks,
    hot_breakpoints,
    language_server,
    latency,
    memory,
    python_side,
    reversing,
    scale,
    startup,
    throughput,
    torchlens_peer,
)
from benchmarks.table import Row, format_table, to_json

Measurement = Callable[[], Iterable[Row]]

MEASUREMENTS: dict[tuple[str, ...], Measurement] = {
    **{
        (f"{mode.prefix}_{model}",): partial(
            throughput.measure, torchlens_peer.beside(mode, model), model
        )
        for mode in throughput.MODES
        for model in throughput.SECONDS
    },
    ("cond_hot_chain",): hot_breakpoints.conditions,
    ("breakpoints_1k_run",): hot_breakpoints.separate_conditions,
    ("log_chain",): hot_breakpoints.log_messages,
    ("step", "refresh", "refresh_p95"): latency.stepping,
    ("variables_page", "evaluate"): latency.looking,
    ("env_20k",): latency.long_env,
    ("tensor_1gb",): latency.big_tensor,
    ("step_python_idle",): python_side.idle,
    ("initialize",): startup.initialize,
    ("first_stop",): startup.first_stop,
    ("ready_20k", "listing_20k"): startup.large_graphs,
    ("ready_100k", "listing_100k"): startup.huge_graphs,
    ("first_stop_100k", "env_100k", "step_100k"): scale.huge_graph,
    ("breakpoints_1k_set", "breakpoints_1k_met"): scale.many_breakpoints,
    ("memory_overhead",): memory.overhead,
    ("interp_subclass",): hooks.subclass,
    ("attach_idle",): startup.idle,
    ("interp_hooks",): hooks.interpreters,
    ("step_back_gpt12",): reversing.model,
    ("reverse_continue_1k",): reversing.chain,
    ("aot_step",): compiled.aot_step,
    ("while_loop",): bodies.loop,
    ("cond_bodies",): bodies.branches,
    ("lsp_start",): language_server.start,
    ("lsp_open_20k", "lsp_request_20k", "lsp_type_20k"): language_server.large_listing,
}
"""What is measured together, by the names of the rows it gives."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows to FILE")
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="a row, or a glob; may be repeated"
    )
    options = parser.parse_args()
    wanted = options.only or ["*"]
    if not any(_is_wanted(name, wanted) for names in MEASUREMENTS for name in names):
        parser.error(f"no row is named {', '.join(wanted)}")
    # Editors start what pip installed, which is compiled; this may be a checkout just made.
    compile_dir(Path(fxdap.__file__).parent, quiet=1)
    rows = list(_measure(wanted))
    print(format_table(rows))
    if options.json is not None:
        result = to_json(rows, version("torch"))
        options.json.write_text(json.dumps(result, indent=2) + "\n")
    return 1 if any(row.value is None for row in rows) else 0


def _measure(wanted: list[str]) -> Iterable[Row]:
    for names, measurement in MEASUREMENTS.items():
        mine = [name for name in names if _is_wanted(name, wanted)]
        if not mine:
            continue
        print(f"measuring {', '.join(names)} ...", file=sys.stderr, flush=True)
        try:
            rows = list(measurement())
        except Exception as error:
            # One broken measurement must not lose the others' minutes of work.
            rows = [Row(name=name, value=None, unit="", note=repr(error)) for name in mine]
        yield from (row for row in rows if row.name in mine)


def _is_wanted(name: str, wanted: list[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in wanted)


if __name__ == "__main__":
    sys.exit(main())
