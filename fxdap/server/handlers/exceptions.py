"""setExceptionBreakpoints and exceptionInfo."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from msgspec import Struct

from fxdap.engine.exceptions import ExceptionFilters
from fxdap.engine.selectors import Selector, SelectorError, parse_selector
from fxdap.server.failure import node_report, user_traceback
from fxdap.server.registry import When, serves
from fxdap.wire.errors import RequestError
from fxdap.wire.messages import (
    Breakpoint,
    Capabilities,
    ExceptionBreakpointsFilter,
    ExceptionDetails,
    ExceptionFilterOptions,
    ExceptionInfoArguments,
    ExceptionInfoResponseBody,
    SetExceptionBreakpointsArguments,
    SetExceptionBreakpointsResponseBody,
)

if TYPE_CHECKING:
    from fxdap.server.session import Session

FILTERS = [
    ExceptionBreakpointsFilter(
        filter="raised",
        label="A node raises",
        default=True,
        supports_condition=True,
        description="Stop at a node that raises an exception",
        condition_description="node selector, such as target:aten.add or module:layers.0",
    ),
    ExceptionBreakpointsFilter(
        filter="uncaught",
        label="An exception ends the program",
        default=False,
        description="Stop at the node whose exception nothing caught",
    ),
    *(
        ExceptionBreakpointsFilter(
            filter=name,
            label=label,
            default=False,
            supports_condition=True,
            description=description,
            condition_description="node selector, such as target:aten.div or module:layers.0",
        )
        for name, label, description in (
            ("nan", "A value becomes NaN", "Stop after the first node that makes a NaN"),
            ("inf", "A value becomes Inf", "Stop after the first node that makes an infinity"),
            (
                "meta",
                "A value disagrees with its metadata",
                "Stop at a value of another shape, dtype, stride or device than recorded",
            ),
            (
                "mutation",
                "A node writes in place",
                "Stop after a node that wrote into what another name still shows",
            ),
        )
    ),
]


@serves(
    "setExceptionBreakpoints",
    offers=Capabilities(
        exception_breakpoint_filters=FILTERS, supports_exception_filter_options=True
    ),
)
def set_exception_breakpoints(
    session: Session, arguments: SetExceptionBreakpointsArguments
) -> Struct:
    """Replace the exception filters; answered filter by filter, `filters` first."""
    options = [ExceptionFilterOptions(filter_id=name) for name in arguments.filters]
    options += arguments.filter_options or []
    enabled, conditions, answers = set(), {}, []
    for each in options:
        try:
            selector = _selector(each)
        except SelectorError as error:
            answers.append(Breakpoint(verified=False, message=str(error), reason="failed"))
            continue
        enabled.add(each.filter_id)
        if selector is not None:
            conditions[each.filter_id] = selector
        answers.append(Breakpoint(verified=True))
    session.debugger.filter_exceptions(ExceptionFilters(frozenset(enabled), conditions))
    return SetExceptionBreakpointsResponseBody(breakpoints=answers)


def _selector(option: ExceptionFilterOptions) -> Selector | None:
    known = [f.filter for f in FILTERS]
    if option.filter_id not in known:
        raise SelectorError(
            f"unknown exception filter {option.filter_id!r}; filters: {', '.join(known)}"
        )
    return parse_selector(option.condition) if option.condition else None


@serves(
    "exceptionInfo",
    When.STOPPED,
    on_thread=True,
    offers=Capabilities(supports_exception_info_request=True),
)
def exception_info(session: Session, arguments: ExceptionInfoArguments) -> Struct:
    """The exception with its cause and cure, the node with its arguments, the user's traceback."""
    thread = session.stopped_thread(arguments)
    error = thread.stop.exception if thread.stop is not None else None
    if error is None:
        raise RequestError(f"thread {arguments.thread_id} is not stopped on an exception")
    uncaught = thread.stop is not None and thread.stop.reason == "uncaught"
    cls = type(error)
    report = node_report(thread.top) if thread.top is not None else ""
    diagnosis = session.diagnoses.at_stop(thread)
    parts = (str(error), str(diagnosis) if diagnosis is not None else "", report)
    return ExceptionInfoResponseBody(
        exception_id=cls.__name__,
        description="\n\n".join(filter(None, parts)),
        break_mode="unhandled" if uncaught else "always",
        details=ExceptionDetails(
            message=str(error),
            type_name=cls.__name__,
            full_type_name=f"{cls.__module__}.{cls.__qualname__}",
            stack_trace=user_traceback(error, None if uncaught else sys._getframe()),
        ),
    )
