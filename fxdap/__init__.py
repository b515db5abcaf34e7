"""fxdap: a debugger for torch.fx graphs.

`listen`, `wait_for_client`, `breakpoint` and `debug` open the user's own process for a client;
`Interpreter` is torch's with hooks around nodes. They are imported when first used, since the
adapter must start without torch.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = ["Endpoint", "Interpreter", "breakpoint", "debug", "listen", "wait_for_client"]

if TYPE_CHECKING:
    from fxdap.api import Endpoint, breakpoint, debug, listen, wait_for_client
    from fxdap.graphs.interpreter import Interpreter


def __getattr__(name: str) -> Any:
    if name == "Interpreter":
        from fxdap.graphs.interpreter import Interpreter

        return Interpreter
    if name in __all__:
        from fxdap import api

        return getattr(api, name)
    raise AttributeError(f"module 'fxdap' has no attribute {name!r}")
