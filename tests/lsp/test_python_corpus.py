"""Code that works has no findings: torch's own passes, and whole libraries that use torch.fx."""

import importlib.util
from pathlib import Path

import pytest

from fxdap.lsp.python.file import PythonFile


@pytest.mark.parametrize(
    "place",
    ["torch/fx", "torch/ao/quantization/fx", "torch/_inductor/fx_passes", "transformers", "timm"],
)
def test_working_code_has_no_findings(place):
    package, _, inner = place.partition("/")
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        pytest.skip(f"{package} is not installed")
    files = sorted((Path(spec.origin).parent / inner).rglob("*.py"))
    texts = {path: path.read_text(encoding="utf-8") for path in files}

    found = {path: faults for path, text in texts.items() if (faults := PythonFile(text).findings)}

    assert len(files) > 20
    assert found == {}
