"""Python source for a run of nodes over one register list.

A segment is a function `segment(R, F, trap, m, save)`: `R[i]` is the value of node `i`, `F[i]`
is non-zero when something waits before node `i`, `trap(i)` is called then, `m` is the root module,
and `save(i)` is called before a node with effects, so that they can be undone. A *checked* segment
tests the flag before each node. A *sprint* tests none and keeps its values in locals `v<i>` until
its end, which makes it as fast as the module's own `forward`. A *whole* graph is a sprint that
returns its result and writes no value to registers; those have the inputs only. A *watched* sprint
returns what `look` gives for some of the values, and lets go of nothing that was there before it.

Every node's statement stands on that node's line of the graph listing, and the code's file name
is the listing, so that Python tracebacks point into it.
"""

import keyword
import math
import operator
from collections.abc import Callable, Container, Iterable, Sequence
from types import CodeType, EllipsisType
from typing import Any, Protocol

from torch.fx import Node
from torch.fx.graph import inplace_methods, magic_methods

SEGMENT_LENGTH = 32
SPRINT_LENGTH = 128

Segment = Callable[[list[Any], bytearray, Callable[[int], None], Any, Callable[[int], None]], Any]


class Operation(Protocol):
    """One node as the program has recorded it."""

    @property
    def op(self) -> str: ...
    @property
    def target(self) -> Any: ...
    @property
    def args(self) -> tuple[Any, ...]: ...
    @property
    def kwargs(self) -> dict[str, Any]: ...


class Layout(Protocol):
    """What the generator needs to know of a program."""

    @property
    def nodes(self) -> Sequence[Node]: ...
    @property
    def steps(self) -> Sequence[Operation]: ...
    @property
    def index(self) -> dict[Node, int]: ...
    @property
    def last_uses(self) -> Sequence[Sequence[int]]: ...

    def line(self, index: int) -> int: ...


class SegmentWriter:
    """Writes the segment of the nodes in `span`; without `keep` it frees dead values.

    Collects the objects its code refers to in `names`.
    """

    def __init__(
        self,
        layout: Layout,
        released: object,
        span: range,
        *,
        keep: bool,
        checked: bool,
        recorded: Container[int] = (),
        whole: bool = False,
        looked_at: Container[int] = (),
        look: Callable[[Any], Any] | None = None,
    ) -> None:
        self._layout = layout
        self._span = span
        self._keep = keep
        self._checked = checked
        self._recorded = recorded
        self._whole = whole
        self._looked_at = looked_at
        self.names: dict[str, Any] = {"_released": released, "look": look}
        self._known: dict[int, str] = {}

    def compile(self, filename: str) -> Segment:
        """Return the segment's function."""
        text = self._source()
        code: CodeType = compile(text, filename, "exec", dont_inherit=True)
        namespace = self.names
        exec(code, namespace)
        segment: Segment = namespace.pop("segment")
        return segment

    def _source(self) -> str:
        line = self._layout.line
        first = line(self._span.start)
        header = "def segment(R, F, trap, m, save, _released=_released):\n"
        parts = ["\n" * max(first - 2, 0), header]
        current = max(first, 2)
        for index in self._span:
            gap = line(index) - current
            parts.append("\n" * max(gap, 0))
            current += max(gap, 0)
            parts.append(f" {'; '.join(self._statements(index))}\n")
            current += 1
        return "".join(parts)

    def _statements(self, index: int) -> list[str]:
        statements = [f"F[{index}] and trap({index})"] if self._checked else []
        if index in self._recorded:
            statements += self._save(index)
        expression = self._expression(index)
        if expression is not None:
            statements.append(f"{self._place(index)} = {expression}")
        if index in self._looked_at:
            statements.append(f"s{index} = look({self._place(index)})")
        if not self._keep:
            statements += [f"{self._place(each)} = _released" for each in self._dead(index)]
        if not self._checked and index == self._span[-1]:
            statements += self._hand_over()
        return statements or ["pass"]

    def _dead(self, index: int) -> Iterable[int]:
        """What nothing reads any more. A watched sprint may have to be run again from its start."""
        dead = self._layout.last_uses[index]
        return (each for each in dead if self._place(each)[0] == "v") if self._looks else dead

    @property
    def _looks(self) -> bool:
        return self.names["look"] is not None

    def _save(self, index: int) -> list[str]:
        """What the node reads goes from locals to registers, where `save` finds it."""
        node = self._layout.nodes[index]
        read = (self._layout.index[each] for each in node.all_input_nodes)
        moved = ((each, self._place(each)) for each in read)
        stores = [f"R[{i}] = {place}" for i, place in moved if place[0] == "v"]
        return [*stores, f"save({index})"]

    def _hand_over(self) -> list[str]:
        """At the end of a sprint: values that live on go from locals to registers."""
        if self._whole:
            return [f"return {self._place(self._span[-1])}"]
        return [*self._stores(), *self._looks_told()]

    def _looks_told(self) -> list[str]:
        if not self._looks:
            return []
        return [f"return ({''.join(f's{i}, ' for i in self._span if i in self._looked_at)})"]

    def _stores(self) -> list[str]:
        if self._keep:
            values = "".join(f"{self._place(each)}, " for each in self._span)
            return [f"R[{self._span.start}:{self._span.stop}] = ({values})"]
        dead = {each for index in self._span for each in self._layout.last_uses[index]}
        alive = (each for each in self._span if each not in dead)
        return [f"R[{each}] = {self._place(each)}" for each in alive]

    def _place(self, index: int) -> str:
        """Where a node's value is while the segment runs."""
        is_local = index in self._span and self._layout.steps[index].op != "placeholder"
        return f"v{index}" if is_local and not self._checked else f"R[{index}]"

    def _expression(self, index: int) -> str | None:
        node = self._layout.steps[index]
        if node.op == "placeholder":
            return None
        if node.op == "get_attr":
            return self._path(node.target)
        if node.op == "output":
            return self._argument(node.args[0])
        if node.op == "call_function":
            infix = self._infix(node)
            if infix is not None:
                return infix
            return self._call(self._constant(node.target), node.args, node)
        if node.op == "call_method":
            method = _attribute(f"({self._argument(node.args[0])})", str(node.target))
            return self._call(method, node.args[1:], node)
        return self._call(self._path(node.target), node.args, node)

    def _infix(self, node: Operation) -> str | None:
        target: Any = node.target
        if node.kwargs or getattr(target, "__module__", None) != "_operator":
            return None
        arguments = [self._argument(a) for a in node.args]
        if target is operator.getitem and len(arguments) == 2:
            return f"{arguments[0]}[{arguments[1]}]"
        name = target.__name__
        form = magic_methods.get(name)
        if form is None or name in inplace_methods or form.count("{}") != len(arguments):
            return None
        return str(form.format(*arguments))

    def _call(self, function: str, args: Sequence[Any], node: Operation) -> str:
        arguments = [self._argument(a) for a in args]
        keywords = {k: self._argument(v) for k, v in node.kwargs.items()}
        if all(map(_is_name, keywords)):
            arguments += [f"{k}={v}" for k, v in keywords.items()]
        else:
            items = ", ".join(f"{k!r}: {v}" for k, v in keywords.items())
            arguments.append(f"**{{{items}}}")
        return f"{function}({', '.join(arguments)})"

    def _path(self, target: Any) -> str:
        expression = "m"
        for atom in str(target).split("."):
            expression = _attribute(expression, atom)
        return expression

    def _argument(self, value: Any) -> str:
        if isinstance(value, Node):
            return self._place(self._layout.index[value])
        if isinstance(value, tuple):
            return self._tuple(value)
        if isinstance(value, list):
            return f"[{', '.join(self._argument(v) for v in value)}]"
        if isinstance(value, dict):
            items = ", ".join(f"{k!r}: {self._argument(v)}" for k, v in value.items())
            return f"{{{items}}}"
        if isinstance(value, slice):
            parts = (value.start, value.stop, value.step)
            return f"slice({', '.join(self._argument(p) for p in parts)})"
        return self._literal(value)

    def _tuple(self, value: tuple[Any, ...]) -> str:
        items = [self._argument(v) for v in value]
        if type(value) is tuple:
            return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
        if hasattr(value, "_fields"):
            return f"{self._constant(type(value))}({', '.join(items)})"
        return self._constant(value)

    def _literal(self, value: Any) -> str:
        if value is None or type(value) in (bool, str, EllipsisType):
            return repr(value) if value is not ... else "..."
        if type(value) is int or (type(value) is float and math.isfinite(value)):
            return repr(value) if value >= 0 and not _is_negative_zero(value) else f"({value!r})"
        return self._constant(value)

    def _constant(self, value: Any) -> str:
        """The name of an object; one name for one object, so that little memory is touched."""
        name = self._known.get(id(value))
        if name is None:
            name = self._known[id(value)] = f"c{len(self.names)}"
            self.names[name] = value
        return name


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _attribute(expression: str, name: str) -> str:
    return f"{expression}.{name}" if _is_name(name) else f"getattr({expression}, {name!r})"


def _is_negative_zero(value: float) -> bool:
    return value == 0 and math.copysign(1.0, value) < 0
