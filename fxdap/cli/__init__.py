"""The `fxdap` command: list a graph, debug one without an editor, start the adapter."""

from fxdap.cli.command import main

__all__ = ["main"]
