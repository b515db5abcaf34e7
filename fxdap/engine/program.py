"""A graph prepared for stepping: nodes by index and name, segments of generated code."""

from collections.abc import Container, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.fx import Graph, Node

from fxdap.engine.codegen import SEGMENT_LENGTH, SPRINT_LENGTH, Segment, SegmentWriter
from fxdap.engine.opaque import runs_python
from fxdap.view.listing import Listing, build_listing
from fxdap.view.regions import Region, regions
from fxdap.view.scope import ModuleScope, enclosing_scopes, module_scopes

if TYPE_CHECKING:
    from fxdap.engine.frameless import Frameless

BODY_NODE = "fxdap_body_node"
"""In the meta of a derived graph's node: the name of the body's node that it was made for."""

SPRINT_LIMIT = 0.001
"""Seconds that a stretch may compute without looking at its flags."""

WAIT_LIMIT = 0.1
"""Seconds that it may take in all: other programs may hold the cores, or its nodes may wait."""

SLOW_RUNS = 3
"""Times in a row that it may take longer: the first runs of anything are slow."""


class Released:
    """Stands in a register whose value was let go; shown as "released", never as a value."""

    def __repr__(self) -> str:
        return "released"


class Skipped(Released):
    """Stands in the register of a node that the user went past with a jump."""

    def __repr__(self) -> str:
        return "skipped"


RELEASED = Released()
SKIPPED = Skipped()


class SegmentSize(NamedTuple):
    """What the values of one segment took when they were counted."""

    largest: int
    """Index of the largest value."""
    bytes: int
    """Its size."""
    total: int
    """The size of all."""


class Step(NamedTuple):
    """What a node did when the program was made; edits of the graph wait for `recompile`."""

    op: str
    target: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class Sprint(NamedTuple):
    """Nodes that run without a look at flags, and their code."""

    span: range
    code: Segment


class Store(NamedTuple):
    """What one run writes to: a value per node, and a byte of flags per node and for the end."""

    registers: list[Any]
    flags: bytearray


class Program:
    """One graph of one module. Holds no values: those live in a `Frame`'s registers.

    `path` is where the graph's nodes stand in the listing of the outermost program: "" there,
    "cond.true" for a nested graph, which `user` calls. A nested program shares its parent's
    listing and file. With `owns_inputs` the caller keeps no input, so that letting go of one
    frees it. `family` has the programs that hold other parts of the same functions.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        graph: Graph,
        name: str,
        *,
        parent: "Program | None" = None,
        path: str = "",
        user: Node | None = None,
        owns_inputs: bool = False,
        family: Sequence["Program"] = (),
    ) -> None:
        self.module = module
        self.graph = graph
        self.name = name
        self.parent = parent
        self.path = path
        self.user = user
        self.origin: Program | None = None
        """The body that torch derived this graph from, such as the gradient of a cond's branch."""
        self.stands_in = False
        """Whether torch runs this graph in the place of `origin`, to keep what a gradient needs."""
        self.runs = 0
        """How often a derived graph has run; torch derives a new one for each backward."""
        self.nodes: Sequence[Node] = tuple(graph.nodes)
        self.index = {node: i for i, node in enumerate(self.nodes)}
        self.by_name = {node.name: i for i, node in enumerate(self.nodes)}
        self.placeholders = [i for i, node in enumerate(self.nodes) if node.op == "placeholder"]
        held = ("get_attr",) if owns_inputs else ("placeholder", "get_attr")
        self.last_uses = _last_uses(self.nodes, self.index, held)
        freed = {index for uses in self.last_uses for index in uses}
        self._survivors = [i for i in range(len(self.nodes)) if i not in freed]
        self._stores: list[Store] = []
        self.flags = bytearray(len(self.nodes) + 1)
        self.flags_version = 0
        self.listing_file: Path | None = None
        self.family = family
        self.steps = tuple(Step(n.op, n.target, n.args, n.kwargs) for n in self.nodes)
        self.last_run: tuple[int, int] | None = None
        """Bytes of the inputs and of all values, of the last run that ended."""
        self.segment_sizes: dict[tuple[int, int], SegmentSize] = {}
        self.frameless: Frameless | None = None
        """What runs a body that needs no frame."""
        self._listing: Listing | None = None
        self._lines: list[int] | None = None
        self._regions: tuple[Region, ...] | None = None
        self.no_sprint = {
            index - index % SPRINT_LENGTH
            for index, node in enumerate(self.nodes)
            if runs_python(module, node)
        }
        """Starts of stretches never run as a sprint: they took long once, or may, or run graphs."""
        self.suspected: dict[int, int] = {}
        """Starts of sprints that took long by the clock: how often they were seen to compute so
        long since."""
        self._segments: dict[tuple[int, bool, bool, bool], Segment] = {}
        self._sprints: dict[tuple[bool, bool], list[Sprint | None]] = {}
        self._visited: set[int] = set()
        self._index_at_line: dict[int, int] = {}
        self._last_readers: list[int] | None = None

    def take_store(self) -> Store:
        """Empty registers and the flags of a new run.

        Those of an ended run are used again: allocating them anew makes the C library tidy up
        all the small tensors that the last run freed, which takes longer than the run's overhead.
        """
        if not self._stores:
            return Store([RELEASED] * len(self), bytearray(self.flags))
        store = self._stores.pop()
        store.flags[:] = self.flags
        return store

    def give_back(self, store: Store, *, kept: bool) -> None:
        """The run is over and nothing looks at its values any more."""
        registers = store.registers
        if kept:
            # Python lets go of the newest first: the next run is then given memory in the order of
            # its addresses.
            registers[:] = [RELEASED] * len(registers)
        else:
            for index in self._survivors:
                registers[index] = RELEASED
        self._stores.append(store)

    def __len__(self) -> int:
        return len(self.nodes)

    def is_current(self) -> bool:
        """Whether the graph still is what this program was made from."""
        nodes = self.graph.nodes
        return len(nodes) == len(self.nodes) and all(
            node is n
            and node.target is s.target
            and node.args is s.args
            and node.kwargs is s.kwargs
            for node, n, s in zip(nodes, self.nodes, self.steps, strict=True)
        )

    @property
    def root(self) -> "Program":
        """The program whose listing this one's nodes stand in."""
        return self if self.parent is None else self.parent.root

    @property
    def listing(self) -> Listing:
        """The text of the graph, nested graphs included; built when first asked for."""
        root = self.root
        if root._listing is None:
            root._listing = build_listing(root.module, root.graph, title=root.name)
        return root._listing

    @property
    def file(self) -> str:
        """Name of the listing as tracebacks show it."""
        file = self.root.listing_file
        return str(file) if file is not None else f"<{self.root.name}.fxgraph>"

    def qualified_name(self, index: int) -> str:
        """The node's name as the listing writes it: `add_1`, or `cond.true/add_1`."""
        name = self.nodes[index].name
        return f"{self.path}/{name}" if self.path else name

    def made_for(self, name: str) -> int | None:
        """Of a graph that stands in for a body: the first node made for the body's node `name`."""
        made = (i for i, node in enumerate(self.nodes) if node.meta.get(BODY_NODE) == name)
        return next(made, None) if self.stands_in else None

    def sources(self, index: int) -> list[int]:
        """The nodes whose values node `index` reads."""
        return [self.index[node] for node in self.nodes[index].all_input_nodes]

    def line(self, index: int) -> int:
        """The node's 1-based line in the listing."""
        if self._lines is None:
            lines = self.listing.lines
            names = map(self.qualified_name, range(len(self)))
            self._lines = [lines.get(name, i + 2) for i, name in enumerate(names)]
        return self._lines[index]

    def scopes(self, index: int) -> tuple[ModuleScope, ...]:
        """Modules around the node, outermost first, without the root."""
        return module_scopes(self.nodes[min(index, len(self.nodes) - 1)])

    def end_of_scope(self, index: int) -> int:
        """Index of the first later node outside the module call the node stands in.

        A call of a leaf module stands in the module that calls it. A region, such as a vmap's, is
        left like a module. May be the graph's end.
        """
        return min([self._end_of_module(index), *(r.stop for r in self.regions_around(index))])

    def regions_around(self, index: int) -> list[Region]:
        """The regions that the node stands in, outermost first, but not those that it begins."""
        if self._regions is None:
            self._regions = regions(self.nodes)
        return [region for region in self._regions if region.start < index < region.stop]

    def _end_of_module(self, index: int) -> int:
        inside = _calls(self.nodes[index])
        if inside:
            for later in range(index + 1, len(self.nodes)):
                if _calls(self.nodes[later])[: len(inside)] != inside:
                    return later
        return len(self.nodes)

    def end_of_segment(self, start: int) -> int:
        """End of the segment that `start` lies in."""
        return min(start - start % SEGMENT_LENGTH + SEGMENT_LENGTH, len(self.nodes))

    def segment(self, start: int, *, keep: bool, recorded: Container[int] = ()) -> Segment | None:
        """The code of the segment that begins at `start`, with flags tested before each node.

        The effects of the nodes in `recorded` are saved.

        None on the first visit: compiling costs more than one walk over the nodes, so only a
        segment that is met again is compiled.
        """
        if start not in self._visited:
            self._visited.add(start)
            return None
        span = range(start, self.end_of_segment(start))
        return self._code(span, keep=keep, checked=True, recorded=recorded)

    def sprint(self, start: int, *, keep: bool, recorded: Container[int] = ()) -> Sprint | None:
        """What can be run from `start` without looking at flags; None if nothing can."""
        if not self._may_sprint(start):
            return None
        known = self.sprints(keep=keep, recorded=bool(recorded))
        found = known[start // SPRINT_LENGTH]
        if found is None:
            span = range(start, min(start + SPRINT_LENGTH, len(self.nodes)))
            code = self._code(span, keep=keep, checked=False, recorded=recorded)
            found = known[start // SPRINT_LENGTH] = Sprint(span, code)
        return found

    def sprints(self, *, keep: bool, recorded: bool) -> list[Sprint | None]:
        """Those that were asked for so far: `[i]` begins with node `i * SPRINT_LENGTH`."""
        found = self._sprints.get((keep, recorded))
        if found is None:
            found = [None] * (len(self.nodes) // SPRINT_LENGTH + 1)
            self._sprints[keep, recorded] = found
        return found

    def _may_sprint(self, start: int) -> bool:
        last = min(start + SPRINT_LENGTH, len(self.nodes)) - 1
        ready = start in self._visited and last - last % SEGMENT_LENGTH in self._visited
        return not start % SPRINT_LENGTH and start not in self.no_sprint and ready

    def _forbid_sprint(self, start: int) -> None:
        self.no_sprint.add(start)
        for known in self._sprints.values():
            known[start // SPRINT_LENGTH] = None

    def whole_code(self, *, keep: bool) -> Segment:
        """The code of the whole graph, which looks at no flags and gives the result."""
        span = range(len(self))
        return SegmentWriter(self, RELEASED, span, keep=keep, checked=False, whole=True).compile(
            self.file
        )

    def _code(self, span: range, *, keep: bool, checked: bool, recorded: Container[int]) -> Segment:
        key = (span.start, keep, checked, bool(recorded))
        code = self._segments.get(key)
        if code is None:
            writer = SegmentWriter(
                self, RELEASED, span, keep=keep, checked=checked, recorded=recorded
            )
            code = self._segments[key] = writer.compile(self.file)
        return code

    def sprinted(self, start: int, busy: float, seconds: float) -> None:
        """A suspected sprint computed and took so long.

        One that is always long cannot be stopped well.
        """
        if busy <= SPRINT_LIMIT and seconds <= WAIT_LIMIT:
            self.suspected.pop(start, None)
            return
        self.suspected[start] = self.suspected.get(start, 0) + 1
        if self.suspected[start] == SLOW_RUNS:
            self._forbid_sprint(start)

    def runs_a_graph(self, index: int) -> None:
        """Node `index` runs another graph: no sprint over it from now on."""
        start = index - index % SPRINT_LENGTH
        if start not in self.no_sprint:
            self._forbid_sprint(start)

    @property
    def last_readers(self) -> Sequence[int]:
        """For each node the last one that reads its value; itself if none does."""
        if self._last_readers is None:
            self._last_readers = list(range(len(self)))
            for index, freed in enumerate(self.last_uses):
                for each in freed:
                    self._last_readers[each] = index
        return self._last_readers

    def index_at_line(self, line: int) -> int:
        """The node that stands on a line of the listing, as tracebacks name it."""
        if not self._index_at_line:
            self._index_at_line = {self.line(index): index for index in range(len(self))}
        return self._index_at_line.get(line, 0)


def _calls(node: Node) -> list[tuple[str, int]]:
    return [(scope.path, scope.call) for scope in enclosing_scopes(node)]


def _last_uses(
    nodes: Sequence[Node], index: dict[Node, int], held: tuple[str, ...]
) -> list[list[int]]:
    """For each node the registers that nothing reads after it.

    What others hold, such as parameters, is left out: letting go of it frees nothing.
    """
    uses: list[list[int]] = [[] for _ in nodes]
    seen: set[Node] = set()
    for i in range(len(nodes) - 1, -1, -1):
        for source in nodes[i].all_input_nodes:
            if source not in seen and source.op not in held:
                seen.add(source)
                uses[i].append(index[source])
    return uses
