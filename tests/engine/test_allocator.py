"""Freed blocks join at once where values are kept; what the user has set holds."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fxdap.engine import allocator
from tests.freed_blocks import needs_old_glibc

PROGRAM = """
from fxdap.engine.allocator import join_freed_blocks
from tests.freed_blocks import are_set_aside

print(are_set_aside())
join_freed_blocks()
print(are_set_aside())
"""


def run(**environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=Path(__file__).parents[2],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


@needs_old_glibc
def test_blocks_are_not_set_aside_any_more():
    assert run(GLIBC_TUNABLES="") == ["True", "False"]


@needs_old_glibc
def test_what_the_user_has_set_holds():
    assert run(GLIBC_TUNABLES="glibc.malloc.mxfast=128") == ["True", "True"]


@pytest.mark.parametrize("error", [AttributeError, OSError, TypeError])
def test_another_c_library_is_left_alone(monkeypatch, error):
    def load(name: object) -> object:
        raise error

    monkeypatch.setattr(ctypes, "CDLL", load)
    allocator.join_freed_blocks()
