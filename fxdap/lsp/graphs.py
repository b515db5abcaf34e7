"""Graphs of the workspace: which there are, and the listing of one before anything runs it."""

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pygls.uris import to_fs_path

from fxdap.lsp.environment import child_environment
from fxdap.view.graph_targets import GraphTarget, graph_targets

if TYPE_CHECKING:
    from fxdap.lsp.server import Server

TARGETS = "fxdap/targets"
LISTING = "fxdap/writeListing"

FOLDER = "${workspaceFolder}"
"""As editors write the workspace folder in a launch configuration."""


async def targets(server: "Server", params: Any) -> list[dict[str, Any]]:
    """What can be debugged in the folder `params.uri`, each with its launch configuration.

    `likely` are those of the file `params.file`, or those whose listing is called
    `params.listing`; they come first.
    """
    folder = Path(to_fs_path(params.uri) or "")
    found = await asyncio.to_thread(lambda: list(graph_targets(folder)))
    choices = [_choice(each, _is_likely(folder, each, params)) for each in found]
    return sorted(choices, key=lambda choice: not choice["likely"])


def _choice(target: GraphTarget, likely: bool) -> dict[str, Any]:
    configuration = {
        "type": "fxdap",
        "request": "launch",
        "name": f"Debug FX Graph: {target.graph}",
        "graph": f"{FOLDER}/{target.graph}",
    }
    return {
        "label": target.graph,
        "description": target.kind,
        "likely": likely,
        "configuration": configuration,
    }


def _is_likely(folder: Path, target: GraphTarget, params: Any) -> bool:
    if target.name == getattr(params, "listing", None):
        return True
    file = to_fs_path(getattr(params, "file", None) or "")
    return file is not None and folder / target.graph.split(":")[0] == Path(file)


async def write_listing(server: "Server", params: Any) -> dict[str, Any]:
    """Where the listing of `params.graph` was written, or under `error` why there is none.

    `graph`, `inputs` and `capture` are those of a launch configuration. The listing goes to the
    folder `params.uri`, which `${workspaceFolder}` stands for. Another process loads the graph; a
    client that cancels the request ends it.
    """
    folder = to_fs_path(params.uri) or ""
    words = ["-m", "fxdap", "list", params.graph.replace(FOLDER, folder), "--json"]
    for option in ("inputs", "capture"):
        given = getattr(params, option, None)
        words += [f"--{option}", given.replace(FOLDER, folder)] if given else []
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *words,
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=child_environment(),
    )
    try:
        output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode != 0:
        return {"error": _reason(errors.decode("utf-8", "replace"), process.returncode)}
    lines = output.decode("utf-8").strip().split("\n")
    written: dict[str, Any] = json.loads(lines[-1])
    return written


def _reason(errors: str, code: int | None) -> str:
    """What the command said, or the last line of its traceback."""
    lines = [line for line in errors.split("\n") if line.strip()]
    said = [line.removeprefix("fxdap: ") for line in lines if line.startswith("fxdap: ")]
    return (said or lines or [f"fxdap list ended with exit code {code}"])[-1]
