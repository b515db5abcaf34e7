import assert from "node:assert/strict";
import { after, before } from "node:test";
import { openWorkbench, scenes } from "./rig/workbench.mjs";

let code;
before(async () => {
  code = await openWorkbench({
    launch: [
      {
        name: "python steps",
        program: "${workspaceFolder}/python_steps.py",
        stopOnEntry: false,
        nodeBreakpoints: ["scale"],
      },
    ],
  });
});
after(() => code?.close());
const scene = scenes(() => code);

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

scene("stopping the graph's session ends the Python session too", async () => {
  await code.press("F11");
  await code.stoppedLine(/opening = torch\.sigmoid/);
  await code.command("Debug: Stop");
  await code.notDebugging();
});
