"""What the process that has torch adds: schemas, pages, Python source."""

from pathlib import Path

import torch
from lsprotocol import types

from fxdap.lsp.torch_facts import facts_of

DOCS = "https://docs.pytorch.org/docs/stable"


def test_an_operator_has_its_schema_and_the_page_of_its_public_name():
    facts = facts_of("aten.mul.Tensor")

    assert facts["schema"] == "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor"
    assert facts["url"] == f"{DOCS}/generated/torch.mul.html"
    assert Path(facts["file"]).is_file()


def test_a_packet_has_the_schemas_of_its_overloads():
    schema = facts_of("aten.relu")["schema"].split("\n")

    assert schema == [
        "aten::relu(Tensor self) -> Tensor",
        "aten::relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    ]


def test_a_function_without_a_page_of_its_own_has_that_of_its_public_twin():
    assert facts_of("torch.relu")["url"] == f"{DOCS}/generated/torch.nn.functional.relu.html"


def test_a_method_has_the_page_of_tensor():
    assert facts_of(".chunk")["url"] == f"{DOCS}/generated/torch.Tensor.chunk.html"


def test_a_higher_order_operator_leads_to_its_public_function():
    facts = facts_of("cond")

    assert facts["url"] == f"{DOCS}/generated/torch.cond.html"
    assert facts["file"].endswith("_cond.py") or facts["file"].endswith("cond.py")


def test_what_is_not_torchs_is_not_imported():
    assert facts_of("model.helper") == {}
    assert facts_of("torch.no_such_function") == {}


def test_definition_of_a_target_waits_for_its_python_source(listing):
    found = listing.at(types.TEXT_DOCUMENT_DEFINITION, "%layer_norm", "torch.nn")

    source = Path(torch.nn.functional.__file__)
    assert found.uri == source.as_uri()
    assert "def layer_norm(" in source.read_text().split("\n")[found.range.start.line]


def test_hover_has_the_schema_once_torch_is_there(listing):
    listing.at(types.TEXT_DOCUMENT_DEFINITION, "%mul", "aten.mul")

    found = listing.at(types.TEXT_DOCUMENT_HOVER, "%mul", "aten.mul").contents.value

    assert found == (
        f"call_function `aten.mul.Tensor` · [documentation]({DOCS}/generated/torch.mul.html)\n"
        "```python\naten::mul.Tensor(Tensor self, Tensor other) -> Tensor\n```"
    )
