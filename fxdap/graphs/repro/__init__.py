"""One node, or a slice of nodes, with its recorded inputs as a script that runs without fxdap."""

from fxdap.graphs.repro.errors import ReproError
from fxdap.graphs.repro.record import record_frame, record_run
from fxdap.graphs.repro.script import write_script

__all__ = ["ReproError", "record_frame", "record_run", "write_script"]
