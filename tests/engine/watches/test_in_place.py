"""The filter `mutation`: a node wrote into what another name still shows."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import fx, nn

from sample_models import inplace as sample
from tests.engine.driver import Driver
from tests.engine.watches.test_finite import watch


def stops(module: Any, *inputs: Any, runs: int = 1, **conditions: str) -> Driver:
    with Driver() as driver:
        watch(driver, **conditions) if conditions else watch(driver, "mutation")
        for _ in range(runs):
            module(*inputs)
    return driver


def test_the_sample_says_who_wrote_and_who_reads_it_later():
    module = fx.symbolic_trace(sample.model())
    driver = stops(module, *sample.example_inputs(), runs=3)
    assert driver.places == ["after %relu_"] * 3
    assert driver.stops[0].text == (
        "%relu_ wrote into %fc; %view shows it too; read later by %view_1"
    )
    assert type(driver.stops[0].error).__name__ == "InPlaceWrite"


@fx.wrap
def hidden(y: torch.Tensor) -> torch.Tensor:
    y.mul_(2)
    return torch.zeros(1)


WRITES: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "method": lambda y, x: y.add_(1),
    "operator": lambda y, x: y.__iadd__(1),
    "setitem": lambda y, x: y.__setitem__(0, 5.0),
    "out": lambda y, x: torch.add(x, 1, out=y),
    "flag": lambda y, x: nn.functional.relu(y, inplace=True),
    "python": lambda y, x: hidden(y),
    "through a view": lambda y, x: y[1:].zero_(),
}


@pytest.mark.parametrize("inference", [False, True])
@pytest.mark.parametrize("name", WRITES)
def test_every_way_to_write_is_noticed(name, inference):
    class Writes(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x + 1
            WRITES[name](y, x)
            return y * 2

    module = fx.symbolic_trace(Writes())
    with torch.inference_mode(inference):
        driver = stops(module, torch.zeros(4))
    told = 0 if inference and name == "python" else 1
    assert len(driver.stops) == told
    assert all("wrote into" in s.text and "%add" in s.text for s in driver.stops)


def test_reading_stops_nowhere_and_a_selector_narrows_it():
    class Reads(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x.view(-1)
            a = torch.nn.functional.dropout(y, 0.5, True)
            y.add_(1)
            x.mul_(2)
            return a + x

    module = fx.symbolic_trace(Reads())
    assert stops(module, torch.zeros(4)).places == ["after %add_", "after %mul_"]
    assert stops(module, torch.zeros(4), mutation="mul_").places == ["after %mul_"]


def test_running_statistics_are_shown_by_the_node_that_fetched_them():
    class Norm(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.BatchNorm1d(2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.neg(self.norm(x - self.norm.get_buffer("running_mean")))

    module = fx.symbolic_trace(Norm()).train()
    driver = stops(module, torch.randn(4, 2))
    assert driver.places == ["after %norm"]
    assert driver.stops[0].text == (
        "%norm wrote into a buffer of its module; %norm_running_mean shows it too"
    )
