"""Asking where every thread is must not stop the process (see `CAN_STAND_STILL`)."""

import subprocess
import sys

import pytest

BEGIN = """\
import gc, os, sys, threading

def begin_a_thread(phase, info):
    if phase == "start":
        threading.Thread(target=int).start()

waiting = threading.Event()
for _ in range(20):
    threading.Thread(target=waiting.wait, daemon=True).start()
"""
END = """
gc.callbacks.clear()
print("went on", gc.isenabled(), flush=True)
os._exit(0)
"""
COLLECTING = "gc.callbacks.append(begin_a_thread); gc.set_threshold(1)\n"
DEBUGPY = """\
from fxdap.server.debugpy_host import debugger_here, keep_out, open_debugpy
open_debugpy("127.0.0.1")
main = threading.main_thread()
"""
ASKING = {
    "current_frames": (
        "from fxdap.engine.current_frames import current_frames",
        "assert current_frames()[threading.get_ident()].f_back is sys._getframe()",
    ),
    "a stack of debugpy's": (DEBUGPY, "main.additional_info.get_topmost_frame(main)"),
    "debugpy's breakpoints": (DEBUGPY, "debugger_here().set_tracing_for_untraced_contexts()"),
    "debugpy was here first": (
        "import debugpy; debugpy.listen(0, in_process_debug_adapter=True)\n"
        + DEBUGPY.replace('open_debugpy("127.0.0.1")', "keep_out()"),
        "main.additional_info.get_topmost_frame(main)",
    ),
}


@pytest.mark.parametrize("asking", ASKING.values(), ids=ASKING)
def test_a_collection_that_begins_a_thread_does_not_stop_the_process(
    asking: tuple[str, str],
) -> None:
    code = f"{BEGIN}{asking[0]}\n{COLLECTING}{asking[1]}{END}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert done.stdout == "went on True\n", done.stderr


def test_a_collector_that_is_off_stays_off() -> None:
    code = (
        "import gc, os; from fxdap.engine.current_frames import current_frames\n"
        f"gc.disable(); assert current_frames(){END}"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert done.stdout == "went on False\n", done.stderr
