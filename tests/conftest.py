"""What every test may rely on: where things are, and torch in a known state."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def repo_root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def sample_models() -> Path:
    """The folder of runnable samples; each is used by the test of the same name."""
    return ROOT / "sample_models"
