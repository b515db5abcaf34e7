"""Arguments of the `fxdap` command. Nothing here imports torch; `list` does when it runs."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from fxdap.cli.options import RunOptions

CAPTURES = ("auto", "symbolic_trace", "export", "dynamo", "aot")

TARGET_HELP = """\
TARGET is file.py:attr, pkg.mod:attr or model.pt2; attr is a module class or instance, a
function, a GraphModule, an ExportedProgram, or a factory of one of them. `run` also takes a
script.py, in which every graph that runs is debugged; words after -- are its arguments.
Selectors: a node name or glob, op:call_module, target:aten.add, module:layers.*.attn,
class:Attention, source:model.py:42, /regex/; terms joined by spaces must all hold."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit code is 0, 1 (the graph raised) or 2 (usage, configuration)."""
    words, program_args = _split(sys.argv[1:] if argv is None else list(argv))
    parser = _parser()
    if words[:1] == ["adapter"]:
        return _adapter(words[1:])
    options = parser.parse_args(words)
    if options.command == "list":
        from fxdap.cli.listing import list_graph

        return list_graph(
            options.target, options.output, options.inputs, options.capture, options.json
        )
    if options.command == "targets":
        from fxdap.cli.targets import list_targets

        return list_targets(options.folder, options.json)
    if options.command == "vscode":
        from fxdap.cli.editor import install_extension

        return install_extension(options.editor)
    if options.command == "repro":
        from fxdap.cli.repro import repro

        return repro(options)
    if program_args and not options.target.endswith(".py"):
        parser.error("words after -- are a script's arguments, and TARGET is no script")
    from fxdap.cli.run import run

    return run(_run_options(options, program_args))


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    if "--" not in words:
        return words, []
    cut = words.index("--")
    return words[:cut], words[cut + 1 :]


def _adapter(words: list[str]) -> int:
    from fxdap.adapter.__main__ import main as adapter_main

    return adapter_main(words)


def _run_options(options: argparse.Namespace, program_args: list[str]) -> RunOptions:
    return RunOptions(
        target=options.target,
        inputs=options.inputs,
        capture=options.capture,
        compile=options.compile,
        breaks=tuple(options.breaks),
        stop_on=tuple(options.stop_on),
        at_stop=tuple(options.at_stop),
        steps=options.steps,
        json=options.json,
        program_args=tuple(program_args),
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fxdap",
        description="Debug PyTorch torch.fx graphs.",
        epilog=TARGET_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_list(commands)
    _add_run(commands)
    _add_repro(commands)
    _add_targets(commands)
    _add_vscode(commands)
    commands.add_parser(
        "adapter", help="be the debug adapter on stdio, or on a port", add_help=False
    )
    return parser


def _add_list(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser("list", help="write a graph's listing", epilog=TARGET_HELP)
    _add_target(command)
    command.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write FILE instead of .fxdap/graphs/"
    )
    command.add_argument(
        "--json", action="store_true", help="print where it is as one JSON object, not the text"
    )


def _add_run(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "run", help="run a graph or script under the debugger", epilog=TARGET_HELP
    )
    _add_target(command)
    _add_compile(command)
    command.add_argument(
        "--break",
        dest="breaks",
        action="append",
        default=[],
        metavar="SELECTOR",
        help="stop before the nodes it selects; may be repeated",
    )
    command.add_argument(
        "--stop-on",
        action="append",
        default=[],
        choices=("nan", "inf", "meta", "mutation"),
        help="stop after the first node whose value becomes that, or that does it (meta: is not "
        "what the metadata says; mutation: writes into what another name shows); may be repeated",
    )
    command.add_argument(
        "--at-stop",
        action="append",
        default=[],
        metavar="EXPR",
        help="evaluate EXPR at each stop; may be repeated",
    )
    command.add_argument(
        "--steps",
        type=_count,
        default=0,
        metavar="N",
        help="step N times after the first stop",
    )
    command.add_argument(
        "--json", action="store_true", help="print one JSON object per line for each event"
    )


def _add_compile(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--compile",
        choices=("off", "dynamo", "aot"),
        default="off",
        help="debug the graphs of a script's torch.compile: Dynamo's, or AOT autograd's",
    )


def _add_targets(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser("targets", help="list what can be debugged in a folder")
    command.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="FOLDER")
    command.add_argument("--json", action="store_true", help="print one JSON object per line")


def _add_vscode(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser("vscode", help="install the VS Code extension")
    command.add_argument(
        "--editor",
        action="append",
        default=[],
        metavar="COMMAND",
        help="an editor's command, such as codium; default: every one found on PATH",
    )


def _add_repro(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "repro", help="write a node with its recorded inputs as a script", epilog=TARGET_HELP
    )
    _add_target(command)
    command.add_argument("--at", required=True, metavar="NODE", help="the node's name")
    command.add_argument(
        "--from",
        dest="starts",
        action="append",
        default=[],
        metavar="NODE",
        help="repeat what leads from NODE to it as well; may be repeated",
    )
    command.add_argument("-o", "--output", type=Path, metavar="FILE", help="write FILE")


def _add_target(command: argparse.ArgumentParser) -> None:
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.add_argument("target", metavar="TARGET")
    command.add_argument(
        "--inputs", metavar="SPEC", help="a value or factory of the inputs, named as TARGET is"
    )
    command.add_argument("--capture", choices=CAPTURES, default="auto", help="how to get the graph")


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return number
