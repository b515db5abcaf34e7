"""The parts of tensors."""

import gc
import warnings
import weakref

import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from fxdap.view.children import children, count_children, indexed_children
from fxdap.view.summary import summarize
from fxdap.view.tensor_statistics import Statistics


def shown(value):
    return {child.name: summarize(child.load()) for child in children(value).named}


def values(tensor, start=0, count=100):
    return [child.value for child in indexed_children(tensor, start, count)]


def test_a_tensor_opens_into_its_facts():
    assert shown(torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])) == {
        "shape": "torch.Size([2, 3])",
        "dtype": "torch.float32",
        "device": "cpu",
        "stride": "(3, 1)",
        "requires_grad": "False",
        "grad_fn": "None",
        "grad": "None",
        "storage": "UntypedStorage  24 bytes cpu",
        "version": "0",
        "statistics": "min 1  max 6  mean 3.5  std 1.871  zeros 0",
    }


def test_statistics_are_computed_when_they_are_opened():
    (lazy,) = [child for child in children(torch.ones(3)).named if child.lazy]
    assert lazy.name == "statistics"
    assert lazy.value is None
    assert lazy.load() == Statistics(min=1, max=1, mean=1, std=0, zeros=0)


def test_data_is_one_dimension_per_level():
    tensor = torch.arange(6.0).view(2, 3)
    assert count_children(tensor).indexed == 2
    first, second = indexed_children(tensor, 0, 100)
    assert (first.name, first.accessor, first.kind) == ("[0]", "[0]", "data")
    assert summarize(second.value) == "f32[3] cpu  min 3  max 5  mean 4"
    assert values(second.value) == [3.0, 4.0, 5.0]


def test_data_is_paged():
    tensor = torch.arange(1000)
    page = indexed_children(tensor, 998, 100)
    assert [(child.name, child.value) for child in page] == [("[998]", 998), ("[999]", 999)]
    assert indexed_children(tensor, 1000, 100) == []
    assert values(tensor, -3, 2) == [0, 1]


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (torch.float32, [0.1, 1e-08, 16777216.0]),
        (torch.float64, [0.1, 1e-08, 16777216.0]),
        (torch.float16, [0.1, 0.0, float("inf")]),
        (torch.bfloat16, [0.1, 1e-08, 1.68e7]),
        (torch.complex64, [0.1 + 0j, 1e-08 + 0j, 16777216.0 + 0j]),
    ],
)
def test_numbers_have_no_more_digits_than_their_dtype(dtype, expected):
    tensor = torch.tensor([0.1, 1e-8, 2**24], dtype=torch.float64).to(dtype)
    assert values(tensor) == expected
    assert torch.equal(torch.tensor(values(tensor), dtype=dtype), tensor)


def test_a_tensor_without_dimensions_shows_its_value():
    assert shown(torch.tensor(0.1))["value"] == "0.1"
    assert count_children(torch.tensor(0.1)).indexed == 0


def test_data_are_views_and_not_copies():
    tensor = torch.zeros(4, 5)
    row = indexed_children(tensor, 2, 1)[0].value
    assert isinstance(row, torch.Tensor)
    assert row.untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr()
    tensor[2, 1] = 7
    assert row.tolist() == [0, 7, 0, 0, 0]


def test_a_page_of_a_tensor_that_only_pretends_to_be_large_is_read_in_place():
    tensor = torch.zeros(1).expand(2**40)
    assert count_children(tensor).indexed == 2**40
    assert values(tensor, 2**39, 2) == [0.0, 0.0]


def test_grad_and_grad_fn_are_shown_without_a_warning():
    leaf = torch.ones(2, requires_grad=True)
    product = leaf * 2
    product.sum().backward()
    assert shown(leaf)["grad"] == "f32[2] cpu  min 2  max 2  mean 2"
    assert shown(product)["grad"] == "None"
    assert shown(product)["grad_fn"].startswith("<MulBackward0")


def test_a_version_that_is_not_tracked_says_so():
    with torch.inference_mode():
        tensor = torch.ones(2)
    assert shown(tensor)["version"] == (
        "<not readable: RuntimeError: Inference tensors do not track version counter.>"
    )


def test_parts_of_sparse_quantized_and_nested_tensors():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        csr = torch.eye(2).to_sparse_csr()
        quantized = torch.quantize_per_tensor(torch.ones(2), 0.5, 3, torch.quint8)
        nested = torch.nested.nested_tensor([torch.zeros(2), torch.ones(3)])
    assert shown(torch.eye(2).to_sparse())["values"] == "f32[2] cpu  min 1  max 1  mean 1"
    assert shown(csr)["crow_indices"] == "i64[3] cpu  min 0  max 2  mean 1"
    assert shown(quantized)["q_zero_point"] == "3"
    assert shown(quantized)["int_repr"] == "u8[2] cpu  min 5  max 5  mean 5"
    assert [summarize(part) for part in values(nested)] == [
        "f32[2] cpu  min 0  max 0  mean 0",
        "f32[3] cpu  min 1  max 1  mean 1",
    ]


def test_a_batched_tensor_opens_into_the_whole_batch():
    seen = {}

    def look(x):
        seen.update(shown(x))
        return x

    torch.vmap(look)(torch.arange(6.0).view(2, 3))
    assert seen["level"] == "1"
    assert seen["batch dim"] == "0"
    assert seen["unwrapped"] == "f32[2, 3] cpu  min 0  max 5  mean 2.5"


def test_no_mode_sees_a_tensor_being_opened():
    seen = []

    class Recording(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    with Recording():
        count_children(tensor := nn.Parameter(torch.ones(2, 2)))
        seen.clear()
        children(tensor)
        indexed_children(tensor, 0, 2)
    assert seen == []


def test_opening_a_tensor_keeps_nothing_of_it():
    tensor = torch.ones(2, 2)
    kept = weakref.ref(tensor)
    children(tensor)
    indexed_children(tensor, 0, 2)
    summarize(tensor)
    del tensor
    gc.collect()
    assert kept() is None


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
def test_a_cuda_tensor_is_opened_without_waiting_and_read_by_page():
    tensor = torch.arange(1000.0, device="cuda")
    torch.cuda.set_sync_debug_mode("error")
    try:
        children(tensor)
        children(tensor[0])
        count_children(tensor)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert values(tensor, 998) == [998.0, 999.0]
    assert shown(tensor[3])["value"] == "3.0"
