"""The Dynamo backends `fxdap` and `fxdap_aot`: graphs run as Dynamo, or AOT autograd, made them.

torch loads them through the `torch_dynamo_backends` entry points. They work without a debugger;
one that attaches later debugs the graphs from their next call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch.fx import GraphModule

from fxdap.graphs.compile.active import ACTIVE
from fxdap.graphs.compile.frames import next_title
from fxdap.graphs.compile.graph import CompiledGraph
from fxdap.graphs.compile.inputs import name_inputs_and_outputs, names_of

Compiler = Callable[[GraphModule, Sequence[Any]], Callable[..., Any]]


def dynamo(module: GraphModule, inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
    """Run Dynamo's graphs. `mode` and `options`, which others heed, mean nothing here."""
    title = next_title(module)
    _announce(title)
    return CompiledGraph(module, title).unboxed()


def aot(module: GraphModule, inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
    """Run the forward and backward ATen graphs of AOT autograd, as `aot_eager` makes them."""
    title = next_title(module)
    _announce(title)
    return AotGraphs(module, title).compile(inputs)


class AotGraphs:
    """The graphs that AOT autograd makes of one of Dynamo's."""

    def __init__(self, module: GraphModule, title: str, *, script_prefix: bool = True) -> None:
        self._module = module
        self._title = title
        self._script_prefix = script_prefix
        self._input_names = names_of(module)
        self.graphs: list[CompiledGraph] = []

    def compile(self, inputs: Sequence[Any]) -> Callable[..., Any]:
        """Make them. The backward is made at once too, so that breakpoints find it early."""
        import torch._functorch.config as functorch
        from torch._dynamo.backends.common import aot_autograd
        from torch._functorch.partitioners import min_cut_rematerialization_partition

        with functorch.patch(force_non_lazy_backward_lowering=True):
            compiled = aot_autograd(
                fw_compiler=self._compiler("forward"),
                bw_compiler=self._compiler("backward"),
                partition_fn=min_cut_rematerialization_partition,
                keep_inference_input_mutations=True,
            )(self._module, inputs)
        run: Callable[..., Any] = compiled
        return run

    def _compiler(self, kind: str) -> Compiler:
        def compile(module: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
            from torch.fx.graph import _BoxedCodeGen

            name_inputs_and_outputs(module, self._input_names)
            # As aot_eager does, so that a call frees each input after its last use.
            module.graph.set_codegen(_BoxedCodeGen())
            module.recompile()
            title = f"{self._title}.{kind}"
            graph = CompiledGraph(module, title, script_prefix=self._script_prefix)
            graph.relatives = self.graphs
            self.graphs.append(graph)
            return graph.boxed()

        return compile


def _announce(title: str) -> None:
    debugger = ACTIVE.debugger
    if debugger is not None:
        for item in ACTIVE.news.read(title):
            debugger.listener.told(*item)
