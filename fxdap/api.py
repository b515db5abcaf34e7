"""fxdap in the user's own process: listen for a client, wait for it, stop here."""

from __future__ import annotations

import os
import secrets
import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from fxdap.engine.plan import next_graph
from fxdap.server import debugpy_host
from fxdap.server.host import Host
from fxdap.server.session import Session

INVITATION_S = 10.0
"""How long `breakpoint` waits for a graph session that it asked an editor for."""

_host: Host | None = None
_declined = False
"""Whether an editor was asked for a graph session, and none came."""
_lock = threading.Lock()


class Endpoint(NamedTuple):
    """Where a client can attach, and the token it must present."""

    host: str
    port: int
    token: str


def listen(
    address: tuple[str, int] | int = ("127.0.0.1", 0), *, token: str | None = None
) -> Endpoint:
    """Open this process for `attach` and return where.

    A bare port means loopback. Whoever attaches can run code here, so a client must present
    the token: the one given, else FXDAP_TOKEN, else a fresh one, printed to stderr. Calling it
    again returns the endpoint that is open already.
    """
    global _host
    host, port = address if isinstance(address, tuple) else ("127.0.0.1", address)
    with _lock:
        if _host is None:
            secret = token or os.environ.get("FXDAP_TOKEN") or secrets.token_urlsafe(16)
            _host = Host(host, port, secret)
            print(
                f"fxdap: listening on {_host.address[0]}:{_host.address[1]}, token {secret}",
                file=sys.stderr,
                flush=True,
            )
        return Endpoint(*_host.address, _host.token)


def wait_for_client(timeout: float | None = None) -> bool:
    """Wait until a client has attached and set its breakpoints; False after `timeout` seconds.

    Raises RuntimeError if `listen` was not called.
    """
    return _listening().wait(timeout)


def breakpoint() -> None:
    """Stop before the next graph's first node on this thread, if a client is attached.

    Under a Python debugger whose editor has the fxdap extension, the client comes by itself; it is
    waited for once.
    """
    session = _host.session if _host is not None else None
    if session is None and debugpy_host.is_attached() and not _declined:
        session = _invite()
    if session is not None:
        session.debugger.current_thread().plan = next_graph()


def debug(target: torch.nn.Module | torch.fx.Graph) -> Callable[..., Any]:
    """Return a callable that runs a module, or a Graph with the module that owns it.

    It calls `listen`, waits for a client, and stops before the first node, so that nothing runs
    unseen.
    """
    module: torch.nn.Module
    if isinstance(target, torch.fx.Graph):
        module = torch.fx.GraphModule(target.owning_module or {}, target)
    else:
        module = target

    def run(*args: Any, **kwargs: Any) -> Any:
        listen()
        wait_for_client()
        breakpoint()
        return module(*args, **kwargs)

    return run


def _invite() -> Session | None:
    """Ask the Python debugger's editor for a graph session, and wait for it."""
    global _declined
    endpoint = listen()
    debugpy_host.tell_client("fxdapListening", endpoint._asdict())
    host = _listening()
    _declined = not host.wait(INVITATION_S)
    if _declined:
        print(
            f"fxdap: no graph session came within {INVITATION_S:.0f} s, so breakpoint() goes on; "
            f"attach one to {endpoint.host}:{endpoint.port}",
            file=sys.stderr,
        )
    return host.session


def _listening() -> Host:
    if _host is None:
        raise RuntimeError("call fxdap.listen() first, so that a client can attach")
    return _host
