"""The environment of processes that the server starts."""

import os


def child_environment() -> dict[str, str]:
    """The server's own, where files of the current folder do not hide what is imported."""
    return {**os.environ, "PYTHONSAFEPATH": "1", "PYTHONIOENCODING": "utf-8"}
