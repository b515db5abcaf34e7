"""What an editor offers while a node selector is being typed, as its user reads it."""

from collections.abc import Iterable

EXAMPLES = {
    "relu*": "node name or pattern",
    "target:aten.add": "every call of an operator or function",
    "op:call_module": "opcode",
    "module:layers.0": "nodes in a module and below",
    "class:Attention": "nodes in a module of that class",
    "source:model.py:42": "nodes made by that line",
    "/softmax.*-1/": "the node's line in the listing",
    "after:relu": "stop after the node instead of before",
}


def selector_choices(
    selector: str,
    message: str,
    completions: Iterable[str] = (),
    nodes: Iterable[tuple[str, str]] = (),
) -> list[dict[str, str]]:
    """The selector itself, longer ones, and single nodes as (name, line); examples for "".

    A choice with `selector` is one to break on, one with `example` is to be typed instead.
    """
    if not selector.strip():
        return [
            {"label": example, "description": meaning, "example": example}
            for example, meaning in EXAMPLES.items()
        ]
    return [
        {"label": f"Break on {selector}", "description": message, "selector": selector},
        *({"label": longer, "example": longer} for longer in completions),
        *({"label": line.strip(), "selector": name} for name, line in nodes),
    ]
