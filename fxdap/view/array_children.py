"""What a numpy array shows when it is opened. Imports no numpy."""

from typing import Any

from fxdap.view.child import Child, Children, attribute


def array_children(value: Any) -> Children:
    names = ("shape", "dtype", "strides", "nbytes")
    named = [attribute(name, getattr(value, name)) for name in names]
    if value.ndim == 0:
        named.append(Child("value", value.item(), ".item()", kind="data"))
    return Children(named, len(value) if value.ndim else 0)


def array_items(value: Any, start: int, count: int) -> list[Child]:
    """One page of the first dimension: views, or Python values in the last dimension."""
    part = value[start : start + count]
    values = [_element(element) for element in part] if value.ndim == 1 else list(part)
    return [
        Child(f"[{index}]", element, f"[{index}]", kind="data")
        for index, element in enumerate(values, start)
    ]


def _element(element: Any) -> object:
    kind = getattr(getattr(element, "dtype", None), "kind", "")
    if kind == "f":
        return float(str(element))  # the digits of its own precision, not of float64
    return element.item() if kind in ("i", "u", "b", "c") else element
