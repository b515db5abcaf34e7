"""Neovim's LSP client, with the configuration that docs/editors.md gives."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
LISTING = """# Net
  %x: f32[2, 16] = placeholder
  %relu: f32[2, 16] = torch.relu(%x)
  %add: f32[2, 16] = torch.add(%relu, %x)
  %output = return (%add, %nothing)
"""


def neovim() -> str:
    """Neovim, if it is new enough; else the test is skipped."""
    found = shutil.which("nvim")
    if found is None:
        pytest.skip("no nvim on PATH")
    told = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    version = re.search(r"v(\d+)\.(\d+)", told)
    if version is None or tuple(map(int, version.groups())) < (0, 11):
        pytest.skip("this nvim is older than 0.11, which has vim.lsp.config")
    return found


@pytest.mark.timeout(180)
def test_it_shows_diagnostics_hovers_definitions_and_lenses_of_a_listing(tmp_path: Path):
    command = [neovim(), "--headless"]
    text = (CHECKOUT / "docs" / "editors.md").read_text(encoding="utf-8")
    (setup,) = (
        b for b in re.findall(r"```lua\n(.*?)```", text, re.DOTALL) if "vim.lsp.config" in b
    )
    (tmp_path / "init.lua").write_text(setup)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    graphs = tmp_path / ".fxdap" / "graphs"
    graphs.mkdir(parents=True)
    (graphs / "net.fxgraph").write_text(LISTING)
    script = Path(__file__).with_name("neovim.lua")

    done = subprocess.run(
        [*command, "-u", "init.lua", "-l", str(script)],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.splitlines() == [
        "filetype fxgraph",
        "diagnostic No node of this graph is named %nothing.",
        "hover **`%relu`**: `f32[2, 16]`, 128 B",
        "definition %relu: f32[2, 16] = torch.relu(%x)",
        "lens 4 nodes, 256 B",
    ], done.stderr
