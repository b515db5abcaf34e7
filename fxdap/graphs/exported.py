"""What the signature of an ExportedProgram says of its graph, noted while the program is made."""

import functools
from typing import Any

from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind

from fxdap.graphs.patches import Patches
from fxdap.view.input_kinds import (
    BUFFERS,
    CONSTANTS,
    INPUTS,
    PARAMETERS,
    TOKENS,
    remember_signature,
)

_KINDS = {
    InputKind.USER_INPUT: INPUTS,
    InputKind.PARAMETER: PARAMETERS,
    InputKind.BUFFER: BUFFERS,
    InputKind.CONSTANT_TENSOR: CONSTANTS,
    InputKind.CUSTOM_OBJ: CONSTANTS,
    InputKind.TOKEN: TOKENS,
}


def watch_exports(patches: Patches) -> None:
    """Know from now on which inputs of a program's own graph are parameters and buffers.

    The graph takes them all as inputs. That of `program.module()` needs no telling: it reads
    them from the module, like any other.
    """
    original = ExportedProgram.__init__

    @functools.wraps(original)
    def made(program: ExportedProgram, *args: Any, **kwargs: Any) -> None:
        original(program, *args, **kwargs)
        note_signature(program)

    patches.set(ExportedProgram, "__init__", made)


def note_signature(program: ExportedProgram) -> None:
    """Note what each input of the program's own graph is."""
    specs = program.graph_signature.input_specs
    kinds = {getattr(spec.arg, "name", ""): _KINDS.get(spec.kind, INPUTS) for spec in specs}
    remember_signature(program.graph, kinds)
