"""A value that is not in `env`: whose it is, why it is not there, who should have made it."""

from torch.fx import Interpreter, Node

from fxdap.graphs.diagnosis.evidence import Diagnosis, Evidence, is_overridden


def missing_value(evidence: Evidence) -> tuple[Node, Node | None] | None:
    """The node whose value was looked for in vain, and the node that reads it."""
    call = evidence.call_of(Interpreter.map_nodes_to_values)
    last = evidence.last
    if call is not None and last is not None and last.code.co_name == "load_arg":
        missing, reader = last.locals.get("n_arg"), last.locals.get("n")
        if isinstance(missing, Node):
            return missing, reader if isinstance(reader, Node) else evidence.node
    error = evidence.error
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], Node):
        return error.args[0], evidence.node
    return None


def check(evidence: Evidence) -> Diagnosis | None:
    """Say why a node has no value; the order of nodes is another checker's."""
    found = missing_value(evidence)
    if found is None or evidence.graph is None:
        return None
    missing, reader = found
    foreign = _foreign(evidence, missing)
    if foreign is not None:
        return foreign
    at, now = evidence.index(missing), evidence.index(reader) if reader is not None else None
    if at is None or now is None or reader is None:
        return None
    if at >= now and at != now:
        return Diagnosis(
            f"{evidence.place(missing)} has not run yet at {evidence.place(reader)}: it stands "
            f"after it",
            f"read it in the step of a later node, when self.env has it (%{missing.name} in "
            f"self.env)",
            missing.name,
        )
    if at == now:
        return Diagnosis(
            f"%{missing.name} is not in env while it runs: run() stores what run_node returns",
            "use the value that super().run_node(n) returned",
            missing.name,
        )
    return _gone(evidence, missing, reader)


def _foreign(evidence: Evidence, missing: Node) -> Diagnosis | None:
    if missing.graph is not evidence.graph:
        twin = any(n.name == missing.name for n in evidence.graph.nodes)  # type: ignore[union-attr]
        own = f" (which has a %{missing.name} of its own)" if twin else ""
        return Diagnosis(
            f"%{missing.name} is a node of another graph than the one that runs{own}",
            "take nodes from self.graph.nodes; a copied or traced graph has Nodes of its own",
            missing.name,
        )
    if missing._erased:
        return Diagnosis(
            f"%{missing.name} was erased from the graph, so nothing makes its value",
            "do not keep Nodes across an edit of the graph; a pass that erases a node others read "
            "calls node.replace_all_uses_with(other) first",
            missing.name,
        )
    return None


def _gone(evidence: Evidence, missing: Node, reader: Node) -> Diagnosis | None:
    interpreter = evidence.interpreter
    if interpreter is None:
        return None
    freed_at = _freed_at(interpreter, missing)
    if freed_at is not None and _before(evidence, freed_at, reader):
        return Diagnosis(
            f"%{missing.name} was freed by garbage_collect_values after "
            f"{evidence.place(freed_at)}, the last node that read it when the Interpreter was made",
            "pass garbage_collect_values=False to keep values, or store it yourself in run_node; "
            "make the Interpreter after editing the graph",
            missing.name,
        )
    if is_overridden(interpreter, "run"):
        return Diagnosis(
            f"nothing stored the value of {evidence.place(missing)}, which "
            f"{evidence.place(reader)} reads: {evidence.class_name}.run replaces torch's, which "
            f"does self.env[node] = self.run_node(node)",
            "store it there too, for every node in the graph's order",
            missing.name,
        )
    return Diagnosis(
        f"%{missing.name} ran before %{reader.name}, and something removed its value from env",
        "run() alone removes values, when no later node reads them; do not delete from self.env",
        missing.name,
    )


def _freed_at(interpreter: Interpreter, missing: Node) -> Node | None:
    last_uses = getattr(interpreter, "user_to_last_uses", {})
    if not interpreter.garbage_collect_values:
        return None
    return next((user for user, nodes in last_uses.items() if missing in nodes), None)


def _before(evidence: Evidence, freed_at: Node, reader: Node) -> bool:
    first, second = evidence.index(freed_at), evidence.index(reader)
    return first is not None and second is not None and first < second
