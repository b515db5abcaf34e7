"""Values that are not in the host's memory: stepped over and shown without a look at them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch

from fxdap.view.summary import summarize
from tests.engine.driver import Driver, kept_values
from tests.engine.graphs import chain

CUDA = pytest.param(
    "cuda:0",
    marks=[
        pytest.mark.cuda,
        pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
    ],
)


@contextmanager
def waiting_is_an_error(device: str) -> Iterator[None]:
    """Whatever waits for the device to finish its work raises in this block."""
    if device == "meta":  # which has no values to wait for: reading one raises anyway
        yield
        return
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize("device", ["meta", CUDA])
def test_steps_stops_and_values_wait_for_no_device(device: str) -> None:
    shown: list[list[str]] = []

    def look(driver: Driver, thread: Any, stop: Any) -> None:
        shown.append([summarize(value) for value in kept_values(thread.top).values()])

    module, x = chain(40), torch.zeros(2, 3, device=device)
    with waiting_is_an_error(device), Driver("over over", at_stop=look) as driver:
        module(x)
        driver.break_on("n1")
        for _ in range(3):
            result = module(x)

    assert driver.places[:3] == ["%n1", "%n2", "%n3"]
    assert shown[2][:4] == [f"f32[2, 3] {device}"] * 4
    assert result.device == torch.device(device)
