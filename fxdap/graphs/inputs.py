"""From a GraphModule call's arguments to the values of its placeholders."""

import inspect
from collections.abc import Sequence
from typing import Any
from weakref import ref

from torch.fx import GraphModule
from torch.fx._pytree import tree_flatten_spec
from torch.fx.graph import CodeGen, _PyTreeCodeGen


class Binder:
    """Binds calls of one compiled GraphModule exactly as its generated `forward` does.

    The generated function's own signature is used, so that defaults, keywords and arity errors
    are torch's and Python's. Does not keep the module alive.
    """

    def __init__(self, module: GraphModule) -> None:
        self._module = ref(module)
        self._codegen = module.graph._codegen
        self._signature = inspect.signature(module.forward)
        parameters = self._signature.parameters.values()
        self._simple = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
        self._count = len(parameters)
        self._plain = type(self._codegen) is CodeGen

    def placeholders(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sequence[Any]:
        """Return the placeholders' values in order. Raises TypeError as the call would."""
        is_simple = self._simple and not kwargs and len(args) == self._count
        values: Sequence[Any] = args if is_simple else self._bound(args, kwargs)
        if self._plain:
            return values
        if type(self._codegen) is _PyTreeCodeGen and self._codegen.pytree_info is not None:
            return self._flatten(values, self._codegen.pytree_info.orig_args)
        flat: Sequence[Any] = self._codegen.process_inputs(*values)
        return flat

    def result(self, output: Any) -> Any:
        """Return what the call returns for the output node's value."""
        return output if self._plain else self._codegen.process_outputs(output)

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return list(bound.arguments.values())

    def _flatten(self, values: Sequence[Any], names: Sequence[str]) -> Sequence[Any]:
        """As `_PyTreeCodeGen.gen_var_bindings` (torch/fx/graph.py) writes it."""
        module: Any = self._module()
        takes_self = names[:1] == ["self"]
        if takes_self:
            values = [module, *values]
        spec = module._in_spec
        tree: Any = list(values)
        if _is_args_and_kwargs(spec):
            count, keys = spec.child(0).num_children, spec.child(1).context
            tree = (tuple(values[:count]), dict(zip(keys, values[count:], strict=True)))
        flat: list[Any] = tree_flatten_spec(tree, spec)
        return flat[1:] if takes_self else flat


def _is_args_and_kwargs(spec: Any) -> bool:
    return (
        spec.type is tuple
        and spec.num_children == 2
        and spec.child(0).type is tuple
        and spec.child(1).type is dict
    )
