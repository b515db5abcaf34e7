"""`fxdap repro`: one node, or a slice, with its recorded inputs as a script of its own."""

import argparse
import sys
from pathlib import Path


def repro(options: argparse.Namespace) -> int:
    """Run the target up to the node and write the script, to a file or to stdout."""
    from fxdap.graphs.errors import TargetError
    from fxdap.graphs.repro import ReproError, record_run, write_script
    from fxdap.graphs.target import load_target

    try:
        target = load_target(options.target, inputs=options.inputs, capture=options.capture)
        recording = record_run(target, options.at, options.starts)
        text = write_script(recording)
    except (TargetError, ReproError) as error:
        print(f"fxdap: {error}", file=sys.stderr)
        return 2
    output: Path | None = options.output
    if output is None:
        sys.stdout.write(text)
    else:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8")
    count = len(recording.slice.nodes)
    print(
        f"fxdap: {count} node{'s' if count != 1 else ''} in {output or 'a script'}; "
        f"%{recording.slice.at.name} gave {recording.seen}",
        file=sys.stderr,
    )
    return 0
