"""dap-mode in Emacs, an unrelated client, with the configuration that docs/editors.md gives."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
HAS_DAP_MODE = "(progn (package-initialize) (require 'dap-mode))"


@pytest.fixture
def emacs() -> str:
    found = shutil.which("emacs")
    if found is None:
        pytest.skip("no emacs on PATH (Debian: emacs-nox, elpa-dap-mode)")
    asked = [found, "--batch", "--eval", HAS_DAP_MODE]
    if subprocess.run(asked, capture_output=True, check=False).returncode != 0:
        pytest.skip("this emacs has no dap-mode (Debian: elpa-dap-mode)")
    return found


@pytest.fixture
def setup(tmp_path: Path) -> Path:
    """The Lisp of the document, in a file."""
    text = (CHECKOUT / "docs" / "editors.md").read_text(encoding="utf-8")
    block = re.search(r"```elisp\n(.*?)```", text, re.DOTALL)
    assert block is not None
    path = tmp_path / "setup.el"
    path.write_text(block[1], encoding="utf-8")
    return path


@pytest.mark.timeout(180)
def test_a_breakpoint_in_the_model_a_step_and_the_end(
    emacs: str, setup: Path, sample_models: Path, tmp_path: Path
):
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    shutil.copy(sample_models / "mlp.py", workspace)
    (workspace / ".venv").symlink_to(sys.prefix)
    env = {
        **os.environ,
        "HOME": str(tmp_path),
        "FXDAP_SETUP": str(setup),
        "FXDAP_WORKSPACE": str(workspace),
    }
    script = Path(__file__).with_name("dap_mode.el")
    done = subprocess.run(
        [emacs, "--batch", "-l", str(script)], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = [line for line in done.stdout.splitlines() if line.startswith(("stopped", "ended"))]
    assert told == [
        "stopped %linear_1  aten.linear.default",
        "stopped %add  aten.add.Tensor",
        "ended",
    ]
