"""What is wrong with a user's Interpreter or graph, told from the error that it ended in.

A checker says something only when the evidence leaves no doubt: no diagnosis is better than a
wrong one.
"""

from collections.abc import Callable

from torch.fx import Interpreter

from fxdap.engine.frame import Frame
from fxdap.graphs.diagnosis import (
    guards,
    inputs,
    methods,
    missing_values,
    order,
    return_values,
    state,
    store,
    wrong_types,
)
from fxdap.graphs.diagnosis.evidence import Diagnosis, Evidence, evidence_of

__all__ = ["Diagnosis", "diagnose"]

CHECKERS: tuple[Callable[[Evidence], Diagnosis | None], ...] = (
    store.check,
    methods.check,
    wrong_types.check,
    order.check,
    missing_values.check,
    inputs.check,
    guards.check,
    state.check,
    return_values.check,
)


def diagnose(error: BaseException, where: Frame | Interpreter | None = None) -> Diagnosis | None:
    """The cause and cure of an error; None unless sure.

    `where` is the frame that stopped on it, or the interpreter, where they are known; the rest is
    read from the traceback. Nothing of the user's is called.
    """
    link: BaseException | None = error
    seen: list[BaseException] = []
    while link is not None and not any(link is e for e in seen):
        seen.append(link)
        evidence = evidence_of(link, where)
        for check in CHECKERS:
            # A post-mortem reads odd objects; failing at that must not hide the user's own error.
            try:
                found = check(evidence)
            except Exception:
                continue
            if found is not None:
                return found
        link = link.__cause__
    return None
