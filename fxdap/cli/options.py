"""What `fxdap run` was asked to do, and the launch configuration that says it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    target: str
    inputs: str | None = None
    capture: str = "auto"
    compile: str = "off"
    breaks: tuple[str, ...] = ()
    stop_on: tuple[str, ...] = ()
    at_stop: tuple[str, ...] = ()
    steps: int = 0
    json: bool = False
    program_args: tuple[str, ...] = ()

    @property
    def stop_on_entry(self) -> bool:
        """Something is to be shown, and no breakpoint says where."""
        return not self.breaks and bool(self.steps or self.at_stop)

    def launch_arguments(self) -> dict[str, Any]:
        """The launch request's arguments."""
        arguments: dict[str, Any] = {
            "name": f"fxdap run {self.target}",
            "type": "fxdap",
            "request": "launch",
            "cwd": str(Path.cwd()),
            "stopOnEntry": self.stop_on_entry,
        }
        if self.target.endswith(".py"):
            arguments |= {"program": self.target, "args": list(self.program_args)}
            arguments |= {"compile": self.compile} if self.compile != "off" else {}
        else:
            arguments |= {"graph": self.target, "capture": self.capture}
            if self.inputs is not None:
                arguments["inputs"] = self.inputs
        return arguments
