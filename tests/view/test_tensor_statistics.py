"""Statistics that the user asks for."""

import dataclasses
import math

import pytest
import torch

from fxdap.view import tensor_statistics
from fxdap.view.tensor_statistics import Statistics, full_statistics, quick_statistics


def test_every_statistic_is_given():
    tensor = torch.tensor([0.0, 1.0, 2.0, 3.0, math.nan, math.inf, -math.inf, -math.inf])
    found = full_statistics(tensor)
    assert found.std == pytest.approx(math.sqrt(5 / 3))
    assert dataclasses.replace(found, std=None) == Statistics(
        min=0.0, max=3.0, mean=1.5, zeros=1, nan=1, inf=1, negative_inf=2
    )


def test_values_without_a_finite_one_are_counted():
    tensor = torch.tensor([math.nan, math.inf])
    assert quick_statistics(tensor) == Statistics(nan=1, inf=1)
    assert full_statistics(tensor) == Statistics(zeros=0, nan=1, inf=1)


def test_booleans_are_counted():
    expected = Statistics(true=2, false=1)
    tensor = torch.tensor([True, True, False])
    assert quick_statistics(tensor) == expected
    assert full_statistics(tensor) == expected


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int32])
@pytest.mark.parametrize("contiguous", [True, False])
def test_a_tensor_read_in_chunks_has_the_statistics_of_the_whole(monkeypatch, dtype, contiguous):
    monkeypatch.setattr(tensor_statistics, "_CHUNK", 100)
    values = (torch.arange(2310) % 97 - 30).to(dtype).view(7, 33, 10)
    tensor = values if contiguous else values.permute(2, 0, 1)
    found, wide = full_statistics(tensor), values.double()
    assert (found.min, found.max) == (-30, 66)
    assert found.mean == pytest.approx(wide.mean().item())
    assert found.std == pytest.approx(wide.std().item(), rel=1e-5)
    assert found.zeros == int((values == 0).sum())


def test_large_values_do_not_overflow():
    tensor = torch.tensor([3e38, -3e38, 3e38])
    found = full_statistics(tensor)
    assert found.mean == pytest.approx(1e38)
    assert found.std == pytest.approx(3.4641e38, rel=1e-4)


def test_the_text_names_what_there_is():
    found = full_statistics(torch.tensor([1, 2, 3]))
    assert str(found) == "min 1  max 3  mean 2  std 1  zeros 0"
    assert str(Statistics(min=0.5, nan=1, negative_inf=2)) == "min 0.5  nan 1  -inf 2"
