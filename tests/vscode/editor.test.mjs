import assert from "node:assert/strict";
import { after, before } from "node:test";
import { openWorkbench, scenes } from "./rig/workbench.mjs";

const LISTING = `# fc1  Linear                                            mlp.py:16
  %x: f32[2, 8] = placeholder
  %fc1: f32[2, 16] = fc1(%x)
  %relu: f32[2, 16] = torch.relu(%fc1)
  %output = return %relu
`;

let code;
before(async () => {
  code = await openWorkbench({ files: { "sample.fxgraph": LISTING } });
});
after(() => code?.close());
const scene = scenes(() => code);

scene("a listing is coloured: definition, type and operator differ", async () => {
  await code.open("sample.fxgraph", "FX Graph");
  const colours = await code.page.evaluate(() => {
    const line = [...document.querySelectorAll(".view-line")].find((each) => each.textContent.includes("torch.relu"));
    return Object.fromEntries(
      [...line.querySelectorAll("span span")].map((span) => [span.textContent.trim(), getComputedStyle(span).color]),
    );
  });
  const distinct = new Set([colours["%relu"], colours["f32"], colours["torch.relu"]]);
  assert.equal(distinct.size, 3, JSON.stringify(colours));
});

scene("the gutter takes breakpoints in a listing and in Python", async () => {
  await code.clickGutter(4);
  await code.breakpointDots().first().waitFor();
  await code.open("mlp.py", "Python");
  await code.clickGutter(17);
  await code.breakpointDots().first().waitFor();
  await code.press("Control+Shift+D");
  await code.breakpoint("sample.fxgraph").waitFor();
  await code.breakpoint("mlp.py").waitFor();
  await code.shot("breakpoints");
});

scene("F5 in a listing that nobody is known to have written asks which graph to debug", async () => {
  await code.open("sample.fxgraph", "FX Graph");
  await code.f5(code.pick("mlp.py:MLP"));
  await code.shot("targets");
  await code.pick("mlp.py:MLP").click();
  await code.paused("entry");
  await code.press("Shift+F5");
  await code.notDebugging();
});

scene("F5 in a Python file without launch.json debugs the graphs that it runs", async () => {
  await code.open("mlp.py", "Python");
  await code.f5(code.stopButton());
  await code.paused("entry");
  await code.stoppedLine(/^ {2}%x = placeholder$/);
  await code.press("F5");
  await code.stoppedLine(/%fc2 = fc2\(%relu\)$/);
  await code.paused("breakpoint");
  await code.press("F5");
  await code.notDebugging();
});

scene("the run menu of the editor does the same; stop ends it", async () => {
  await code.open("mlp.py", "Python");
  await code.page.locator('.editor-actions [aria-label="Debug FX Graph"]').click();
  await code.paused("entry");
  await code.press("Shift+F5");
  await code.notDebugging();
});

scene("VS Code asked nothing of other hosts", () => {
  assert.deepEqual(code.outside, []);
});
