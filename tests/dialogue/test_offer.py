"""What the adapter offers is what the server's handlers make true."""

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import structs

import fxdap.server.session  # noqa: F401  (registers every handler)
from fxdap.server.registry import HANDLERS, capabilities
from fxdap.wire.messages import REQUESTS
from fxdap.wire.offer import CAPABILITIES
from tests.dialogue.conftest import Connect

ADAPTERS_OWN = {"supports_restart_request"}

NEEDED = {
    "support_suspend_debuggee": "disconnect",
    "supports_configuration_done_request": "configurationDone",
    "supports_function_breakpoints": "setFunctionBreakpoints",
    "supports_conditional_breakpoints": "setBreakpoints",
    "supports_hit_conditional_breakpoints": "setBreakpoints",
    "supports_log_points": "setBreakpoints",
    "breakpoint_modes": "setBreakpoints",
    "supports_evaluate_for_hovers": "evaluate",
    "supports_clipboard_context": "evaluate",
    "supports_value_formatting_options": "variables",
    "supports_step_back": "stepBack",
    "supports_set_variable": "setVariable",
    "supports_set_expression": "setExpression",
    "supports_restart_frame": "restartFrame",
    "supports_goto_targets_request": "gotoTargets",
    "supports_step_in_targets_request": "stepInTargets",
    "supports_stepping_granularity": "next",
    "supports_completions_request": "completions",
    "completion_trigger_characters": "completions",
    "supports_modules_request": "modules",
    "additional_module_columns": "modules",
    "supports_exception_options": "setExceptionBreakpoints",
    "exception_breakpoint_filters": "setExceptionBreakpoints",
    "supports_exception_filter_options": "setExceptionBreakpoints",
    "supports_exception_info_request": "exceptionInfo",
    "support_terminate_debuggee": "disconnect",
    "supports_terminate_request": "terminate",
    "supports_delayed_stack_trace_loading": "stackTrace",
    "supports_loaded_sources_request": "loadedSources",
    "supports_terminate_threads_request": "terminateThreads",
    "supports_data_breakpoints": "setDataBreakpoints",
    "supports_read_memory_request": "readMemory",
    "supports_write_memory_request": "writeMemory",
    "supports_disassemble_request": "disassemble",
    "supports_instruction_breakpoints": "setInstructionBreakpoints",
    "supports_breakpoint_locations_request": "breakpointLocations",
    "supports_single_thread_execution_requests": "continue",
    "supports_ansi_styling": "variables",
}
"""The request that makes a capability true; `cancel` is served by the session's reader."""


def test_the_generated_offer_is_current(repo_root: Path) -> None:
    command = [sys.executable, str(repo_root / "scripts" / "generate_offer.py"), "--check"]
    done = subprocess.run(command, cwd=repo_root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr or "run scripts/generate_offer.py"


def test_the_adapter_offers_what_the_handlers_offer_and_restart() -> None:
    offered, served = structs.asdict(CAPABILITIES), structs.asdict(capabilities())
    assert {k for k in offered if offered[k] != served[k]} == ADAPTERS_OWN


@pytest.mark.parametrize("name", [k for k, v in structs.asdict(CAPABILITIES).items() if v])
def test_an_offered_capability_has_its_handler(name: str) -> None:
    if name in ADAPTERS_OWN or name == "supports_cancel_request":
        return
    assert NEEDED[name] in HANDLERS


def test_requests_beyond_the_protocol_bear_the_debuggers_name() -> None:
    beyond = [command for command in HANDLERS if command not in REQUESTS]
    assert [command for command in beyond if not command.startswith("fxdap")] == []


def test_initialize_answers_with_the_offer(connect: Connect) -> None:
    assert connect().initialize() == CAPABILITIES
