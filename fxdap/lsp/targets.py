"""The documentation of a target, as far as its name alone tells: needs no torch."""

import re

TORCH_DOCS = "https://docs.pytorch.org/docs/stable"
PYTHON_DOCS = "https://docs.python.org/3/library"

# Not torch.NAME: some of these, such as torch.relu, have no page of their own.
_PUBLIC = re.compile(r"torch\.(?:nn\.functional|linalg|fft|special)\.[a-z]\w*")
_METHOD = re.compile(r"\.([a-z]\w*)")


def page_of(target: str) -> str:
    """The page of a public function of torch or Python, "" where the name does not tell."""
    first, _, rest = target.partition(".")
    if first in ("operator", "math") and rest:
        return f"{PYTHON_DOCS}/{first}.html#{first}.{rest}"
    if _PUBLIC.fullmatch(target):
        return f"{TORCH_DOCS}/generated/{target}.html"
    method = _METHOD.fullmatch(target)
    return f"{TORCH_DOCS}/generated/torch.Tensor.{method[1]}.html" if method else ""
