"""Inputs that an exported program does not take, refused by its `_guards_fn`."""

from fxdap.graphs.diagnosis.evidence import Diagnosis, Evidence
from fxdap.view.guards import guard_conditions, is_guard

_FAILED = "Guard failed: "


def check(evidence: Evidence) -> Diagnosis | None:
    """Name the condition that does not hold and the ways around it."""
    text = str(evidence.error).split("\n")[0]
    node = evidence.node
    if node is None or not is_guard(node) or not text.startswith(_FAILED):
        return None
    condition = text.removeprefix(_FAILED)
    if condition not in guard_conditions(evidence.module):
        return None
    return Diagnosis(
        f"the program was exported for inputs with {condition}, which these are not",
        "give inputs like those of the export, or export with dynamic_shapes for what may vary; "
        "program.module(check_guards=False) leaves the check out",
        node.name,
    )
