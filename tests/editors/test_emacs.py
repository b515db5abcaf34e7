"""Emacs, an unrelated client of both servers, with the configuration that docs/editors.md gives."""

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


def emacs_with(library: str, package: str) -> str:
    """Emacs, if it has a library; else the test is skipped."""
    found = shutil.which("emacs")
    if found is None:
        pytest.skip(f"no emacs on PATH (Debian: emacs-nox, {package})")
    asked = [found, "--batch", "--eval", f"(progn (package-initialize) (require '{library}))"]
    if subprocess.run(asked, capture_output=True, check=False).returncode != 0:
        pytest.skip(f"this emacs has no {library} (Debian: {package})")
    return found


def document_block(beginning: str, path: Path) -> Path:
    """The Lisp of the document that begins so, in a file."""
    text = (CHECKOUT / "docs" / "editors.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```elisp\n(.*?)```", text, re.DOTALL)
    (block,) = [each for each in blocks if each.startswith(beginning)]
    path.write_text(block, encoding="utf-8")
    return path


def run(emacs: str, script: str, setup: Path, workspace: Path, **told: str) -> list[str]:
    """What a script of this folder prints, line by line."""
    (workspace / ".venv").symlink_to(sys.prefix)
    env = {
        **os.environ,
        "HOME": str(workspace.parent),
        "FXDAP_SETUP": str(setup),
        "FXDAP_WORKSPACE": str(workspace),
        **{f"FXDAP_{name.upper()}": value for name, value in told.items()},
    }
    command = [emacs, "--batch", "-l", str(Path(__file__).with_name(script))]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def dap_mode(file: Path, workspace: Path, **told: str) -> list[str]:
    """Where dap-mode stops while it debugs a copy of a file."""
    emacs = emacs_with("dap-mode", "elpa-dap-mode")
    shutil.copy(file, workspace)
    setup = document_block("(require 'dap-mode)", workspace.parent / "setup.el")
    lines = run(emacs, "dap_mode.el", setup, workspace, file=file.name, **told)
    return [line for line in lines if line.startswith(("stopped", "ended"))]


@pytest.mark.timeout(180)
def test_dap_mode_stops_at_a_breakpoint_in_the_model_steps_and_ends(
    workspace: Path, sample_models: Path
):
    launch = '(:graph "mlp.py:MLP")'
    file = sample_models / "mlp.py"
    assert dap_mode(file, workspace, line="17", launch=launch, commands="dap-next") == [
        "stopped %linear_1  aten.linear.default",
        "stopped %add  aten.add.Tensor",
        "ended",
    ]


@pytest.mark.timeout(180)
def test_dap_mode_steps_into_python_and_out_again_in_the_one_session(
    workspace: Path, sample_models: Path
):
    file = sample_models / "python_steps.py"
    lines = file.read_text(encoding="utf-8").splitlines()
    inside = next(number for number, line in enumerate(lines, 1) if "x = x / largest" in line)
    launch = '(:program "python_steps.py" :nodeBreakpoints ["scale"])'
    commands = ["step-in", "next", "continue", "step-out", "continue", "next", "step-out"]
    told = {"line": str(inside), "launch": launch}
    told["commands"] = " ".join(f"dap-{each}" for each in commands)
    assert dap_mode(file, workspace, **told) == [
        "stopped %scale  __main__.scale",
        "stopped scale",
        "stopped scale",
        "stopped scale",
        "stopped %gate  gate",
        "stopped %scale  __main__.scale",
        "stopped scale",
        "stopped call_function",
        "stopped %gate  gate",
        "ended",
    ]


@pytest.mark.timeout(180)
def test_eglot_shows_diagnostics_definitions_and_hovers_of_a_listing(workspace: Path):
    emacs = emacs_with("eglot", "elpa-eglot")
    graphs = workspace / ".fxdap" / "graphs"
    graphs.mkdir(parents=True)
    (graphs / "net.fxgraph").write_text(LISTING)
    setup = document_block("(define-derived-mode fxgraph-mode", workspace.parent / "setup.el")

    assert run(emacs, "eglot.el", setup, workspace) == [
        "mode fxgraph-mode",
        "diagnostic No node of this graph is named %nothing.",
        "definition %relu: f32[2, 16] = torch.relu(%x)",
        "hover %relu: f32[2, 16], 128 B",
        "ended",
    ]
