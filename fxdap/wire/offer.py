"""The capabilities that `initialize` answers with."""

from fxdap.wire.messages import BreakpointMode, Capabilities, ExceptionBreakpointsFilter

CAPABILITIES = Capabilities(
    supports_configuration_done_request=True,
    supports_function_breakpoints=True,
    supports_conditional_breakpoints=True,
    supports_hit_conditional_breakpoints=True,
    supports_evaluate_for_hovers=True,
    exception_breakpoint_filters=[
        ExceptionBreakpointsFilter(
            filter="raised",
            label="Raised Exceptions",
            description="Stop at the node that raises.",
            default=True,
            supports_condition=True,
            condition_description="Node selector, such as target:torch.relu or module:blocks.0",
        ),
        ExceptionBreakpointsFilter(
            filter="uncaught",
            label="Uncaught Exceptions",
            description="Stop at the node whose exception nothing catches.",
            supports_condition=True,
            condition_description="Node selector, such as target:torch.relu or module:blocks.0",
        ),
    ],
    supports_completions_request=True,
    completion_trigger_characters=[".", "["],
    supports_restart_request=True,
    supports_exception_info_request=True,
    support_terminate_debuggee=True,
    supports_delayed_stack_trace_loading=True,
    supports_loaded_sources_request=True,
    supports_log_points=True,
    supports_terminate_request=True,
    supports_cancel_request=True,
    supports_breakpoint_locations_request=True,
    supports_clipboard_context=True,
    supports_exception_filter_options=True,
    breakpoint_modes=[
        BreakpointMode(
            mode="before",
            label="Before the Node",
            description="Stop before the node runs.",
            applies_to=["source"],
        ),
        BreakpointMode(
            mode="after",
            label="After the Node",
            description="Stop after the node ran, with its value at hand.",
            applies_to=["source"],
        ),
    ],
)
