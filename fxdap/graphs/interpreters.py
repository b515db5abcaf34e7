"""Runs of torch.fx.Interpreter and of users' subclasses, run as they are.

The user's code runs for every node in its order: their `run`, `run_node`, opcode methods and
env. `run` and `run_node` are wrapped on each class that defines them; the wrapper of `run_node`
lets the debugger arrive before the node and takes its value after.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import torch.compiler
from torch.fx import Graph, Interpreter, Node
from torch.fx.graph import CodeGen

from fxdap.engine.codegen import SEGMENT_LENGTH
from fxdap.engine.debugger import Debugger
from fxdap.engine.frame import Frame
from fxdap.engine.history import PastGoneError
from fxdap.engine.program import RELEASED, Program
from fxdap.engine.stops import Stop
from fxdap.engine.thread import run_in
from fxdap.engine.travel import Travel
from fxdap.graphs.bodies import Bodies
from fxdap.graphs.dynamo import dynamo_callback
from fxdap.graphs.naming import graph_title
from fxdap.graphs.origin import is_ghost, is_users_class, started_by_user
from fxdap.graphs.patches import Patches
from fxdap.graphs.verify import Prepared, Verifier, can_verify
from fxdap.view.compatibility import is_compiling


class InterpreterFrame(Frame):
    """A run whose nodes the user's interpreter executes."""

    def __init__(self, program: Program, interpreter: Interpreter, debugger: Debugger) -> None:
        thread = debugger.current_thread()
        super().__init__(program, thread, thread.top)
        self.interpreter = self._user = interpreter
        self.registers = [RELEASED] * len(program)
        self._running: Node | None = None
        self._ran: int | None = None
        self._env: Any = None
        self._verifier: Verifier | None = None
        self._landed = -1
        if debugger.options.verify_interpreter and can_verify(interpreter):
            self._verifier = Verifier(interpreter, debugger.listener.noticed)

    def drive(self, original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Call the user's `run`, again for each time that its run is taken back."""
        travel: Travel | None = None
        while True:
            try:
                if travel is None:
                    return original(self._user, *args, **kwargs)
                return self._go_on(travel, original, args, kwargs)
            except Travel as arriving:
                if arriving.frame is not self:
                    raise
                travel = arriving.arrived()

    def _go_on(self, travel: Travel, original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Stop where the travel ends, then have the user's loop begin there.

        torch's own `run` passes over the nodes that its env has when it begins.
        """
        cursor, self._ran, self._running = travel.cursor, None, None
        self.phase = travel.phase
        self.position = cursor - 1 if travel.phase == "after" else cursor
        self._user.env = self._env_before(cursor)
        self.thread.stepped = True
        self.thread.halt(travel.stop)
        self._landed = cursor if travel.phase == "before" else -1
        if cursor == 0:
            return original(self._user, *args, **kwargs)
        graph, processing = self._user.graph, kwargs.get("enable_io_processing", True)
        flat = graph.process_inputs(*args) if processing else args
        taken = sum(1 for index in self.program.placeholders if index < cursor)
        env = self._env_before(cursor)
        result = original(self._user, *flat[taken:], initial_env=env, enable_io_processing=False)
        return graph.process_outputs(result) if processing else result

    def _env_before(self, cursor: int) -> dict[Node, Any]:
        nodes = self.program.nodes
        return {nodes[i]: self.registers[i] for i in range(cursor)}

    def check_travel(self, cursor: int) -> None:
        """A `run` of the user's own drives the nodes itself: it can only begin again."""
        kind = type(self._user)
        if cursor > 0 and not inspect.unwrap(kind.run).__module__.startswith(("torch.", "fxdap.")):
            raise PastGoneError(
                f"{kind.__name__}.run is code of yours that calls the nodes one after the other, "
                f"and Python cannot be taken back to the middle of it; restart the graph instead"
            )

    @property
    def outside(self) -> str:
        kind = type(self._user)
        if not is_users_class(kind):
            return ""
        return f"Not undone: what {kind.__name__} keeps in attributes of its own."

    def put(self, index: int, value: Any) -> None:
        super().put(index, value)
        node, env = self.program.nodes[index], getattr(self._user, "env", None)
        if isinstance(env, dict) and node in env:
            env[node] = value

    def node_run(self, node: Node, original: Callable[[Interpreter, Node], Any]) -> Any:
        """Run one node by the user's `run_node`; a `super().run_node` in it passes through."""
        index = self.program.index.get(node)
        if index is None or self._running is node:
            return original(self._user, node)
        if getattr(self._user, "env", None) is not self._env:
            self._take_env()
        if index == self._landed:
            self._drop_dead(index)
        else:
            self._arrive(index)
        watcher = self.watched(index)
        if watcher is not None:
            watcher.begin(self, index)
        prepared = self._verifier.prepare(node) if self._verifier is not None else None
        outer, self._running = self._running, node
        self.position, self.phase = index, "before"
        try:
            if index in self._recorded:
                self._save(index)
            value = self.registers[index] = original(self._user, node)
        except Exception as error:
            self.position = index
            self._take_env()
            self.thread.raised(self, error)
            raise
        finally:
            self._running = outer
        if prepared is not None:
            self._verify(index, prepared, value)
        watcher = self.watched(index)
        if watcher is not None:
            self._take_env()
            self.registers[index] = value
            watcher.check(self, index + 1, keep=True)
        self._retain(index)
        self._ran = index
        if index + 1 == len(self.program):
            self._finish_last()
        return value

    def _drop_dead(self, index: int) -> None:
        """The run begins here after it was taken back: as torch would, keep what is still read."""
        self._landed = -1
        if not getattr(self._user, "garbage_collect_values", False):
            return
        readers = self.program.last_readers
        for earlier in range(index):
            if readers[earlier] < index and self.program.nodes[earlier].op != "placeholder":
                self._user.env.pop(self.program.nodes[earlier], None)

    def _arrive(self, index: int) -> None:
        """Stop after the node that ran last or before this one; nodes between were skipped."""
        self._finish_last()
        plan = self.thread.plan
        if self.flags[index] or (plan is not None and plan.reached(self, index)):
            self._take_env()
            self.thread.arrive_before(self, index)

    def _finish_last(self) -> None:
        index, self._ran = self._ran, None
        if index is not None and self.flags[index + 1]:
            self._take_env()
            self.thread.arrive_after(self, index)

    def _verify(self, index: int, prepared: Prepared, value: Any) -> None:
        """Stop at the run's first value that torch's own Interpreter would not give."""
        if self._verifier is None:
            return
        mismatch = self._verifier.judge(self.program.nodes[index], prepared, value)
        if mismatch is not None:
            self._verifier = None
            self._take_env()
            self.registers[index] = value
            self.position, self.phase = index, "after"
            self.thread.halt(Stop(reason="exception", text=str(mismatch), exception=mismatch))

    def _take_env(self) -> None:
        """The interpreter's own env has values that no `run_node` gave, such as `initial_env`."""
        self._env = getattr(self._user, "env", None)
        for node, value in self._env.items() if isinstance(self._env, dict) else ():
            index = self.program.index.get(node)
            if index is not None:
                self.registers[index] = value

    def _retain(self, index: int) -> None:
        """Keep or let go of values as generated code does, a segment's length at a time."""
        if not self.thread.debugger.options.keep_values:
            self.release_dead(index)
        elif (index + 1) % SEGMENT_LENGTH == 0:
            start = index + 1 - SEGMENT_LENGTH
            self.thread.debugger.retention.account(self, start, index + 1)


class InterpreterRuns:
    """Wraps `run` and `run_node` of Interpreter and its subclasses while installed."""

    def __init__(self, debugger: Debugger, patches: Patches, bodies: Bodies) -> None:
        self._debugger = debugger
        self._patches = patches
        self._bodies = bodies

    def install(self) -> None:
        """Wrap Interpreter and all its subclasses; later subclasses when they are first used."""
        original = Interpreter.__init__
        runs = self

        @functools.wraps(original)
        def init(interpreter: Interpreter, *args: Any, **kwargs: Any) -> None:
            at_work = torch.compiler.is_dynamo_compiling() or is_compiling()
            if not at_work and dynamo_callback() is None:
                runs._wrap(type(interpreter))
            original(interpreter, *args, **kwargs)

        self._patches.set(Interpreter, "__init__", init)
        self._wrap(Interpreter)
        self._wrap_subclasses(Interpreter)

    def _wrap_subclasses(self, cls: type) -> None:
        subclass: type
        for subclass in cls.__subclasses__():
            self._wrap(subclass)
            self._wrap_subclasses(subclass)

    def _wrap(self, cls: type) -> None:
        for owner in cls.__mro__:
            if not issubclass(owner, Interpreter):
                continue
            for name, wrap in (("run", self._wrap_run), ("run_node", self._wrap_run_node)):
                method = owner.__dict__.get(name)
                if callable(method) and not self._patches.is_set(owner, name):
                    self._patches.set(owner, name, wrap(method))

    def _wrap_run(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def run(interpreter: Interpreter, *args: Any, **kwargs: Any) -> Any:
            compiling = torch.compiler.is_dynamo_compiling() or is_compiling()
            compiling = compiling or dynamo_callback() is not None
            program = None if compiling or kwargs else self._body(interpreter, args)
            if program is not None:
                return self._debugger.run_program(program, args)
            frame = None if compiling else self._begin(interpreter, args)
            if frame is None:
                return original(interpreter, *args, **kwargs)
            return run_in(frame.thread, frame, lambda: frame.drive(original, args, kwargs))

        return run

    def _wrap_run_node(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def run_node(interpreter: Interpreter, n: Node) -> Any:
            if torch.compiler.is_dynamo_compiling() or is_compiling():
                return original(interpreter, n)
            if dynamo_callback() is not None:
                return original(interpreter, n)
            frame = self._debugger.current_thread().top
            if isinstance(frame, InterpreterFrame) and frame.interpreter is interpreter:
                return frame.node_run(n, original)
            return original(interpreter, n)

        return run_node

    def _body(self, interpreter: Interpreter, args: tuple[Any, ...]) -> Program | None:
        """The body that torch runs by an Interpreter of its own, which nobody looks into.

        A checkpoint and an autograd.Function do. Generated code gives the same, and faster.
        """
        if type(interpreter) is not Interpreter or is_ghost(args):
            return None
        module: Any = interpreter.module
        graph = interpreter.graph
        if getattr(module, "graph", None) is not graph or type(graph._codegen) is not CodeGen:
            return None
        program = self._bodies.program(module, graph, 3)
        return program if program is not None and len(program.placeholders) == len(args) else None

    def _check_surplus(self, graph: Graph, args: tuple[Any, ...]) -> None:
        """Interpreter.run ignores inputs that no placeholder takes; the user should know."""
        inputs = [node for node in graph.nodes if node.op == "placeholder"]
        starred = any(str(node.target).startswith("*") for node in inputs)
        if type(graph._codegen) is CodeGen and len(args) > len(inputs) and not starred:
            self._debugger.listener.noticed(
                f"Interpreter.run was given {len(args)} inputs, but the graph has "
                f"{len(inputs)} placeholder{'s' if len(inputs) != 1 else ''}: "
                f"the last {len(args) - len(inputs)} are ignored"
            )

    def _begin(self, interpreter: Interpreter, args: tuple[Any, ...]) -> InterpreterFrame | None:
        """The frame of a run that starts now; None inside one of its own, or not the user's."""
        thread = self._debugger.running_thread()
        frames = thread.frames if thread is not None else []
        if any(f.interpreter is interpreter for f in frames) or is_ghost(args):
            return None
        mine = is_users_class(type(interpreter)) or started_by_user(3)
        if self._debugger.options.just_my_code and not frames and not mine:
            return None
        graph = interpreter.graph
        self._check_surplus(graph, args)
        name = graph_title(interpreter.module, self._debugger.options.script)
        program = self._debugger.program_for(interpreter.module, graph, None, name)
        return InterpreterFrame(program, interpreter, self._debugger)
