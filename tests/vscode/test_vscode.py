"""The tests that run under Node.js, as one test here: pytest tests/vscode/test_vscode.py."""

import shutil
import subprocess
from pathlib import Path

import pytest

RUN = Path(__file__).with_name("run.mjs")


# The first run downloads VS Code, and on a bare machine Chromium.
@pytest.mark.timeout(2400)
def test_everything_in_a_real_vscode(capfd):
    missing = [name for name in ("node", "npm", "tar") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not on PATH: {', '.join(missing)}")

    with capfd.disabled():
        print()
        finished = subprocess.run(
            ["node", str(RUN)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        print(finished.stdout)

    assert finished.returncode == 0, finished.stdout
    skipped = [line for line in finished.stdout.splitlines() if line.startswith("skipped: ")]
    if skipped:
        pytest.skip("\n".join(skipped))
