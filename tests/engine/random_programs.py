"""Random graphs of every kind of effect, for tests that go back and forth in them."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import fx, nn

SIZE = 4


class ProgramWriter:
    """Writes one graph of `length` operations over 4x4 tensors."""

    def __init__(self, seed: int, length: int = 45, depth: int = 1) -> None:
        self._random = random.Random(seed)
        self._depth = depth
        self.root = nn.Module()
        self._graph = fx.Graph()
        self._full: list[fx.Node] = []
        """4x4 values that may be written."""
        self._read: list[fx.Node] = []
        """4x4 values that may only be read."""
        self._views: list[fx.Node] = []
        """Smaller views that may be written."""
        self._length = length

    def write(self) -> fx.GraphModule:
        root, graph = self.root, self._graph
        for name in ("x", "y"):
            self._full.append(graph.placeholder(name))
        self._read.append(self._attribute("weight", nn.Parameter(self._tensor())))
        self._full.append(self._attribute("state", self._tensor()))
        root.bn = nn.BatchNorm1d(SIZE)
        root.drop = nn.Dropout(0.5)
        root.relu = nn.ReLU(inplace=True)
        root.mean, root.var = (nn.Buffer(torch.zeros(SIZE)), nn.Buffer(torch.ones(SIZE)))
        makers = self._makers()
        for _ in range(self._length):
            self._random.choice(makers)()
        last = [self._pick(self._full) for _ in range(2)]
        graph.output((graph.call_function(torch.add, (*last,)), last[0]))
        return fx.GraphModule(root, graph, "RandomProgram")

    def inputs(self) -> tuple[torch.Tensor, ...]:
        return self._tensor(), self._tensor()

    def _tensor(self) -> torch.Tensor:
        values = [self._random.uniform(-2, 2) for _ in range(SIZE * SIZE)]
        return torch.tensor(values).reshape(SIZE, SIZE)

    def _attribute(self, name: str, value: torch.Tensor) -> fx.Node:
        if isinstance(value, nn.Parameter):
            self.root.register_parameter(name, value)
        else:
            self.root.register_buffer(name, value)
        return self._graph.get_attr(name)

    def _makers(self) -> list[Callable[[], None]]:
        makers = [
            self._pure, self._pure, self._in_place, self._in_place, self._view, self._set_item,
            self._drop, self._draw, self._norm, self._out, self._relu_module, self._switch,
            self._packed, self._transpose_in_place, self._autocast,
        ]  # fmt: skip
        return [*makers, self._nested] if self._depth else makers

    def _pick(self, nodes: list[fx.Node]) -> fx.Node:
        return self._random.choice(nodes[-8:] + nodes[:3])

    def _any(self) -> fx.Node:
        return self._pick(self._full + self._read)

    def _call(self, target: Any, *args: Any, **kwargs: Any) -> fx.Node:
        return self._graph.call_function(target, args, kwargs)

    def _pure(self) -> None:
        target = self._random.choice([torch.add, torch.mul, torch.maximum, operator.sub])
        self._full.append(self._call(target, self._any(), self._any()))

    def _in_place(self) -> None:
        target = self._pick(self._full + self._views)
        kind = self._random.randrange(5)
        if kind == 0:
            self._graph.call_method("add_", (target, 0.25))
        elif kind == 1:
            self._call(torch.relu_, target)
        elif kind == 2:
            self._call(operator.imul, target, 0.5)
        elif kind == 3:
            self._call(torch.ops.aten.sub_.Tensor, target, 0.125)
        else:
            self._call(F.leaky_relu, target, 0.1, True)

    def _view(self) -> None:
        base = self._pick(self._full)
        kind = self._random.randrange(3)
        if kind == 0:
            self._views.append(self._graph.call_method("select", (base, 0, 1)))
        elif kind == 1:
            self._full.append(self._graph.call_method("t", (base,)))
        else:
            index = (slice(None), slice(0, 2))
            self._views.append(self._call(operator.getitem, base, index))

    def _set_item(self) -> None:
        index = self._random.choice([0, (slice(None), 2), (1, slice(0, 3)), (..., -1)])
        self._call(operator.setitem, self._pick(self._full), index, 0.5)

    def _drop(self) -> None:
        if self._random.random() < 0.5:
            self._full.append(self._graph.call_module("drop", (self._any(),)))
        else:
            inplace = self._random.random() < 0.3
            self._full.append(self._call(F.dropout, self._pick(self._full), 0.5, True, inplace))

    def _draw(self) -> None:
        target = self._random.choice([torch.rand_like, torch.ops.aten.randn_like.default])
        self._full.append(self._call(target, self._any()))

    def _norm(self) -> None:
        if self._random.random() < 0.5:
            self._full.append(self._graph.call_module("bn", (self._any(),)))
        else:
            mean, var = self._graph.get_attr("mean"), self._graph.get_attr("var")
            self._full.append(self._call(F.batch_norm, self._any(), mean, var, training=True))

    def _out(self) -> None:
        buffer = self._call(torch.zeros, SIZE, SIZE)
        drawn = self._call(torch.neg, self._call(torch.rand, SIZE, SIZE), out=buffer)
        self._full.append(drawn)

    def _relu_module(self) -> None:
        self._full.append(self._graph.call_module("relu", (self._pick(self._full),)))

    def _switch(self) -> None:
        kind = self._random.randrange(3)
        if kind == 0:
            self._call(torch._C._set_grad_enabled, self._random.random() < 0.2)
        elif kind == 1:
            self._call(torch.use_deterministic_algorithms, self._random.random() < 0.5)
        else:
            precision = self._random.choice(["highest", "high"])
            self._call(torch.set_float32_matmul_precision, precision)

    def _autocast(self) -> None:
        modes = torch.amp.autocast_mode
        entered = self._call(modes._enter_autocast, "cpu", torch.bfloat16, True, False)
        product = self._call(torch.mm, self._any(), self._any())
        self._full.append(self._graph.call_method("float", (product,)))
        self._call(modes._exit_autocast, entered)

    def _packed(self) -> None:
        pair = self._call(torch.max, self._any(), 0)
        self._call(operator.getitem, pair, 1)

    def _transpose_in_place(self) -> None:
        fresh = self._call(torch.neg, self._any())
        self._full.append(self._graph.call_method("t_", (fresh,)))

    def _nested(self) -> None:
        writer = ProgramWriter(self._random.randrange(1 << 30), length=6, depth=self._depth - 1)
        name = f"sub{len(self._graph.nodes)}"
        self.root.add_module(name, writer.write())
        called = self._graph.call_module(name, (self._pick(self._full), self._pick(self._full)))
        self._full.append(self._call(operator.getitem, called, 0))
