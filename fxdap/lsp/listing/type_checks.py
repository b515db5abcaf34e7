"""Recorded types that contradict each other: shapes that cannot meet, results that cannot be."""

from collections.abc import Iterator

from fxdap.lsp.listing.finding import Finding, Severity
from fxdap.lsp.listing.line import Use
from fxdap.lsp.listing.model import Listing, Node
from fxdap.lsp.listing.operators import arguments_of, is_function, traits, written_name
from fxdap.lsp.listing.value_type import TensorType, tensor_of

Shape = tuple[int | str, ...]

_COMPARISON_NAMES = "eq ne lt le gt ge logical_and logical_or logical_xor"
# Without those that autocast computes in another dtype, such as exp.
_UNARY_NAMES = "relu neg abs tanh sigmoid sqrt sin cos gelu silu clone"

_ARITHMETIC = frozenset({"add", "sub", "mul", "maximum", "minimum"})
_COMPARISONS = frozenset(_COMPARISON_NAMES.split())
_BINARY = _ARITHMETIC | _COMPARISONS | {"div", "true_divide", "truediv", "pow", "atan2"}
_UNARY = frozenset(_UNARY_NAMES.split())
_KEEP_FLOATS = ("f16", "bf16", "f32", "f64")


def operand_shapes(listing: Listing, node: Node) -> Iterator[Finding]:
    """Operands that do not broadcast, or do not fit a matrix product."""
    operands = _operands(listing, node)
    if operands is None:
        return
    (first, left), (second, right) = operands
    name = traits(node.text.target).base
    if name in _BINARY:
        wrong = not can_broadcast(left.shape, right.shape)
        problem = "do not broadcast"
    elif name in ("mm", "bmm"):
        wrong = _differ(left.shape, -1, right.shape, -2)
        problem = "do not fit a matrix product"
    elif name == "linear":
        wrong = _differ(left.shape, -1, right.shape, -1)
        problem = "do not fit: the last dimensions of input and weight differ"
    else:
        return
    if wrong:
        message = f"Shapes {_text(left)} and {_text(right)} {problem}."
        where = (node.line, first.start, second.end)
        yield Finding(*where, "shape", message, Severity.Warning)


def result_type(listing: Listing, node: Node) -> Iterator[Finding]:
    """A recorded result that cannot come out of an elementwise operation on these operands."""
    text = node.text
    result = tensor_of(text.type_text)
    if result is None or not is_function(text) or "=" in text.arguments:
        return
    name = traits(text.target).base
    operands = _tensor_arguments(listing, node)
    if name in _UNARY and len(operands) >= 1:
        types = [operands[0][1]]
    elif name in _BINARY and len(operands) == 2 and written_name(text) is None:
        types = [operands[0][1], operands[1][1]]
    else:
        return
    problem = _wrong_shape(result, types) or _wrong_dtype(name, result, types)
    if problem:
        start = text.type_end - len(text.type_text)
        yield Finding(node.line, start, text.type_end, "type", problem, Severity.Warning)


def can_broadcast(left: Shape, right: Shape) -> bool:
    """False only where two known dimensions surely do not go together."""
    return all(
        isinstance(a, str) or isinstance(b, str) or a == b or 1 in (a, b)
        for a, b in zip(reversed(left), reversed(right), strict=False)
    )


def broadcast(shapes: list[Shape]) -> Shape | None:
    """The shape that shapes broadcast to, None where symbols or a mismatch leave it open."""
    rank = max(map(len, shapes))
    result: list[int | str] = []
    for position in range(-rank, 0):
        sizes = {shape[position] for shape in shapes if len(shape) >= -position} - {1}
        if len(sizes) > 1 or any(isinstance(size, str) for size in sizes):
            return None
        result.append(sizes.pop() if sizes else 1)
    return tuple(result)


def _wrong_shape(result: TensorType, operands: list[TensorType]) -> str:
    expected = broadcast([each.shape for each in operands])
    if expected is None or any(isinstance(size, str) for size in result.shape):
        return ""
    if expected == result.shape:
        return ""
    shown = ", ".join(map(str, expected))
    return f"The recorded shape is {_text(result)}; the operands give [{shown}]."


def _wrong_dtype(name: str, result: TensorType, operands: list[TensorType]) -> str:
    if name in _COMPARISONS:
        return f"A comparison gives b8, not {result.dtype}." if result.dtype != "b8" else ""
    dtypes = {each.dtype for each in operands}
    if len(dtypes) != 1 or (name not in _ARITHMETIC and name not in _UNARY):
        return ""
    dtype = dtypes.pop()
    if dtype in _KEEP_FLOATS and result.dtype != dtype:
        return f"The recorded dtype is {result.dtype}; {name} of {dtype} gives {dtype}."
    return ""


def _operands(
    listing: Listing, node: Node
) -> tuple[tuple[Use, TensorType], tuple[Use, TensorType]] | None:
    if len(node.text.uses) < 2 or not is_function(node.text):
        return None
    found = _tensor_arguments(listing, node)
    return (found[0], found[1]) if len(found) >= 2 else None


def _tensor_arguments(listing: Listing, node: Node) -> list[tuple[Use, TensorType]]:
    """The leading arguments, as long as they are nodes with the type of one tensor."""
    found: list[tuple[Use, TensorType]] = []
    uses = iter(node.text.uses)
    for argument in arguments_of(node.text.arguments)[:2]:
        use = next(uses, None)
        if use is None or argument != f"%{use.name}":
            break
        made = listing.find(node.text.graph, use.name)
        tensor = tensor_of(made.text.type_text) if made is not None else None
        if tensor is None:
            break
        found.append((use, tensor))
    return found


def _differ(left: Shape, i: int, right: Shape, j: int) -> bool:
    if len(left) < -i or len(right) < -j:
        return False
    a, b = left[i], right[j]
    return isinstance(a, int) and isinstance(b, int) and a != b


def _text(tensor: TensorType) -> str:
    return f"[{', '.join(map(str, tensor.shape))}]"
