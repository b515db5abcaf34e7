"""`.pt2` files as text: another process loads the program and writes its listing."""

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pygls.uris import to_fs_path

from fxdap.lsp.environment import child_environment
from fxdap.lsp.language import Language

if TYPE_CHECKING:
    from fxdap.lsp.server import Server

LISTING = "fxdap/pt2Listing"


async def pt2_listing(server: "Server", params: Any) -> dict[str, Any]:
    """Where the listing of `params.uri` was written, or under `error` why there is none.

    A client that cancels the request ends the process.
    """
    path = Path(to_fs_path(params.uri) or "")
    words = ("-m", "fxdap", "list", str(path), "--json")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *words,
        cwd=_folder_of(server, path),
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


def _folder_of(server: "Server", path: Path) -> str:
    """The workspace folder that a file is in: its listing goes there."""
    inside = [folder for folder in server.folders if path.is_relative_to(folder)]
    return max(inside, key=len, default=str(path.parent))


def _reason(errors: str, code: int | None) -> str:
    """What the command said, or the last line of its traceback."""
    lines = [line for line in errors.split("\n") if line.strip()]
    said = [line.removeprefix("fxdap: ") for line in lines if line.startswith("fxdap: ")]
    return (said or lines or [f"fxdap list ended with exit code {code}"])[-1]


PT2 = Language(id="pt2", suffix=".pt2", handlers={LISTING: pt2_listing})
