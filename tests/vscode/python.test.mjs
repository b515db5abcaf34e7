import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { PYTHON, openWorkbench, scenes } from "./rig/workbench.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));

const PYTHON_FIRST = `
from torch import fx
from mlp import MLP, example_inputs

graph = fx.symbolic_trace(MLP())
print(graph(*example_inputs()))
`;

let code;
before(async () => {
  code = await openWorkbench({
    extensions: [path.join(here, "host", "debugpy")],
    files: { "python_first.py": PYTHON_FIRST },
    launch: [
      {
        name: "python steps",
        program: "${workspaceFolder}/python_steps.py",
        stopOnEntry: false,
        nodeBreakpoints: ["scale"],
      },
      { type: "debugpy", name: "python first", program: "${workspaceFolder}/python_first.py", python: PYTHON },
    ],
  });
});
after(() => code?.close());
const { story, scene } = scenes(() => code);

/** Sets a breakpoint on the line of a file that has the text. */
async function breakAt(file, text) {
  const lines = fs.readFileSync(path.join(code.workspace, file), "utf8").split("\n");
  await code.open(file, "Python");
  await code.clickGutter(lines.findIndex((line) => line.includes(text)) + 1);
}

story("down into Python", () => {
  scene("F11 on a node goes down to the first line of the user's function", async () => {
    await code.start("python steps", "python_steps.py");
    await code.stoppedLine(/%scale:? .*scale\(/);
    await code.press("F11");
    await code.stoppedLine(/largest = x\.abs\(\)\.max\(\)/);
    await code.frame("scale").waitFor();
    const factor = await code.variable("factor");
    assert.match(await factor.getAttribute("aria-label"), /^factor, value 2\.0/);
    await code.shot("python");
  });

  scene("stepping goes on in Python as usual", async () => {
    await code.press("F10");
    await code.stoppedLine(/if largest > factor:/);
    const largest = await code.variable("largest");
    assert.match(await largest.getAttribute("aria-label"), /^largest, value tensor\(4\.\)/);
  });

  scene("stepping out of Python is at the graph's next node", async () => {
    await code.press("Shift+F11");
    await code.stoppedLine(/%gate\b/);
    await code.frame("%gate").waitFor();
  });

  scene("breakpoints in one file are bound by the session that runs their line, Python's or the graph's", async () => {
    await breakAt("python_steps.py", "return x * opening"); // in a leaf, which is one node
    await breakAt("python_steps.py", "ops.python_steps.clip(x");
    await code.debugView();
    await code.resume();
    await code.stoppedLine(/return x \* opening/);
    await code.session(/^Python.*Paused On Breakpoint/i);
    await code.resumeSession("Python");
    await code.stoppedLine(/%clip\b/);
    await code.session(/^python steps.*Paused On Breakpoint/i);
  });

  scene("stopping the graph's session ends the Python session too", async () => {
    await code.press("F11");
    await code.stoppedLine(/low = -limit/);
    await code.command("Debug: Stop");
    await code.notDebugging();
  });
});

story("up from Python", () => {
  scene("Attach FX Debugger opens a graph session for the program that Python's debugger has stopped", async () => {
    await breakAt("python_first.py", "print(graph");
    await code.choose("python first");
    await code.stoppedLine(/print\(graph/);
    await code.command("FX: Attach FX Debugger");
    await code.session(/^FX Graph: python first/);
    await code.status("Graphs of python first").waitFor();
  });

  scene("its breakpoints stop the graph, with the Python program's values", async () => {
    await code.command("FX: Break on Selector");
    await code.type("head");
    await code.choosePick("Break on head");
    await code.status("FX: breaks on head").waitFor();
    await code.resumeSession("python first");
    await code.stoppedLine(/%head = head\(%add\)/);
    await code.session(/^FX Graph: python first.*Paused On Function Breakpoint/i);
    await code.expand("Env");
    const relu = await code.variable("relu");
    assert.match(await relu.getAttribute("aria-label"), /^relu, value f32\[2, 16\] cpu/);
    await code.shot("attached");
    await code.resumeSession("FX Graph: python first");
    await code.notDebugging();
  });
});
