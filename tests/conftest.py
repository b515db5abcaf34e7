"""What every test may rely on: where things are, and torch in a known state."""

import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fxdap.view import budget

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def repo_root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def sample_models() -> Path:
    """The folder of runnable samples; each is used by the test of the same name."""
    return ROOT / "sample_models"


@pytest.fixture(scope="session", autouse=True)
def no_hurry() -> None:
    """A busy machine may take longer than a response should; tests of that say how long."""
    budget.SECONDS = 10.0


@pytest.fixture(scope="module", autouse=True)
def no_compiled_graphs_left() -> Iterator[None]:
    """Graphs that one module's tests compiled are alive, so a later session would know them."""
    yield
    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is not None:
        dynamo.reset()
        gc.collect()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The long forms are run only where `-m soak` asks for them."""
    if "soak" in config.option.markexpr:
        return
    long = [item for item in items if item.get_closest_marker("soak")]
    items[:] = [item for item in items if not item.get_closest_marker("soak")]
    config.hook.pytest_deselected(items=long)
