"""One line per architecture at the end of the run, and the second process."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.zoo.collection import BY_NAME

REPORT = pytest.StashKey[list[str]]()


@dataclass
class SecondProcess:
    """Digests of another process's listings, one architecture after the other."""

    process: subprocess.Popen[str]
    names: list[str]
    found: dict[str, dict[str, str]] = field(default_factory=dict)

    def digests(self, name: str) -> dict[str, str]:
        """Those of one architecture's graphs; waits until they are there."""
        assert self.process.stdout is not None
        while name not in self.found:
            line = self.process.stdout.readline()
            assert line, f"the second process ended with {self.process.wait()}"
            self.found[self.names[len(self.found)]] = json.loads(line)
        return self.found[name]


@pytest.fixture(scope="session")
def second_process(request: pytest.FixtureRequest) -> Iterator[SecondProcess]:
    """Captures what this run tests, in the same order, with another hash seed."""
    items: list[Any] = request.session.items
    names = [i.callspec.params["name"] for i in items if i.path.name == "test_zoo.py"]
    command = [sys.executable, "-m", "tests.zoo.second", *names]
    environment = {**os.environ, "PYTHONHASHSEED": "7", "HF_HUB_OFFLINE": "1"}
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
        cwd=request.config.rootpath,
    ) as process:
        yield SecondProcess(process, names)
        process.kill()


@pytest.fixture
def report(request: pytest.FixtureRequest) -> list[str]:
    """Lines to print when all is done."""
    return request.config.stash.setdefault(REPORT, [])


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    lines = config.stash.get(REPORT, [])
    if lines:
        terminalreporter.section("zoo")
        terminalreporter.write_line(f"{len(lines)} of {len(BY_NAME)} architectures")
        for line in lines:
            terminalreporter.write_line(line)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Only the quick ones are run, unless `-m zoo` asks for all or `-k` for some."""
    if "zoo" in config.option.markexpr or config.option.keyword:
        return
    slow = [item for item in items if not _is_quick(item)]
    if slow:
        items[:] = [item for item in items if _is_quick(item)]
        config.hook.pytest_deselected(items=slow)


def _is_quick(item: Any) -> bool:
    if item.path.name != "test_zoo.py":
        return True
    return BY_NAME[item.callspec.params["name"]].quick
