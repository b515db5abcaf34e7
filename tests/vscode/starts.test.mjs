import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import path from "node:path";
import test, { after, before } from "node:test";
import { PYTHON, openWorkbench, scenes } from "./rig/workbench.mjs";

const SAVE = `
import torch
from mlp import MLP, example_inputs
torch.export.save(torch.export.export(MLP(), example_inputs()), "saved.pt2")
`;

const LISTING = `# fc1  Linear                                            mlp.py:16
  %x: f32[2, 8] = placeholder
  %fc1: f32[2, 16] = fc1(%x)
  %relu: f32[2, 16] = torch.relu(%fc1)
  %output = return %relu
`;

let code;
before(async () => {
  const prepare = (workspace) => execFileSync(PYTHON, ["-c", SAVE], { cwd: workspace, stdio: "pipe" });
  code = await openWorkbench({ prepare, files: { "sample.fxgraph": LISTING } });
});
after(() => code?.close());
const { story, scene } = scenes(() => code);
const row = (file) => code.page.locator(".explorer-folders-view .monaco-list-row", { hasText: file });

story("before anything ran", () => {
  scene("Getting Started opens the walkthrough", async () => {
    await code.command("FX: Getting Started");
    await code.page.locator("text=Stop before a node").first().waitFor();
    await code.page.locator("text=Break where it matters").first().click();
    await code.page.locator("text=/Break on Selector/").first().waitFor();
    await code.shot("walkthrough");
  });

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
});

story("F5 without launch.json", () => {
  scene("F5 in a listing that nobody is known to have written asks which graph to debug", async () => {
    await code.open("sample.fxgraph", "FX Graph");
    await code.f5(code.pick("bert.py:model"));
    await code.type("mlp.py"); // the list shows only what fits
    await code.pick("mlp.py:MLP").waitFor();
    await code.shot("targets");
    await code.choosePick("mlp.py:MLP");
    await code.paused("entry");
    await code.stop();
  });

  scene("F5 in a Python file without launch.json debugs the graphs that it runs", async () => {
    await code.open("mlp.py", "Python");
    await code.clickGutter(17);
    await code.f5(code.stopButton());
    await code.paused("entry");
    await code.stoppedLine(/^ {2}%x = placeholder$/);
    await code.resume();
    await code.stoppedLine(/%fc2 = fc2\(%relu\) {2}# Linear$/);
    await code.paused("breakpoint");
    await code.resume();
    await code.notDebugging();
  });

  scene("the run menu of the editor does the same; stop ends it", async () => {
    await code.open("mlp.py", "Python");
    await code.page.locator('.editor-actions [aria-label="Debug FX Graph"]').click();
    await code.paused("entry");
    await code.stop();
  });
});

story("a listing first", () => {
  scene("Open Graph Listing writes a listing before anything ran; a breakpoint in it is hit", async () => {
    await code.open("mlp.py", "Python");
    await code.command("FX: Open Graph Listing");
    await code.choosePick("mlp.py:MLP");
    await code.page.locator('.tab.active[data-resource-name="MLP.fxgraph"]').waitFor();
    await code.page.locator('.statusbar-item[id="status.editor.mode"]', { hasText: "FX Graph" }).waitFor();
    await code.clickGutter(code.lineOf("%linear_1"));
    await code.breakpointDots().first().waitFor();
    await code.press("Control+Shift+D");
    await code.f5(code.stopButton()); // asks nothing: this listing's graph is known
    await code.paused("entry");
    await code.resume();
    await code.stoppedLine(/%linear_1:/);
    await code.paused("breakpoint");
  });

  scene("the status bar says where it is stopped", async () => {
    await code.status("MLP 11/15").waitFor();
    await code.press("F10");
    await code.status("MLP 12/15").waitFor();
  });

  scene("loading the window anew ends the session, and leaves no process behind", async () => {
    assert.notDeepEqual(code.debugged(), []);
    await code.reload();
    await code.until("an end of all processes", () => code.debugged().length === 0);
    await code.press("Control+Shift+D");
    await code.notDebugging();
    await code.status("MLP 12/15").waitFor({ state: "hidden" });
  });

  scene("after that the breakpoint is still there, and F5 in the listing still works", async () => {
    await code.open(".fxdap/graphs/MLP.fxgraph", "FX Graph");
    await code.breakpointDots().first().waitFor();
    await code.f5(code.stopButton());
    await code.paused("entry");
    await code.stop();
  });

  scene("Run to This Node starts the listing's graph and stops there first", async () => {
    await code.menu(code.line(/%relu:/), "Run to This Node");
    await code.stoppedLine(/%relu:/);
    await code.paused("function breakpoint");
  });

  scene("Run to This Node in a session goes on to the node", async () => {
    await code.menu(code.line(/%softmax:/), "Run to This Node");
    await code.stoppedLine(/%linear_1:/); // a breakpoint comes first
    await code.menu(code.line(/%softmax:/), "Run to This Node");
    await code.stoppedLine(/%softmax:/);
    await code.stop();
  });
});

story("graphs of the workspace", () => {
  scene("Run and Debug lists the graphs of the workspace", async () => {
    await code.command("Debug: Select and Start Debugging");
    await code.choosePick("Debug FX Graph...");
    await code.pick("Debug FX Graph: bert.py:model").waitFor();
    await code.shot("dynamic");
    await code.type("saved"); // more are found than fit the list
    await code.pick("Debug FX Graph: saved.pt2").waitFor();
    await code.type("nested.py");
    await code.choosePick("Debug FX Graph: nested.py:Model");
    await code.paused("entry");
    await code.status("nested.Model 1/20").waitFor();
    await code.stop();
  });

  scene("the menu of a .pt2 file debugs it", async () => {
    await code.press("Control+Shift+E");
    await code.menu(row("saved.pt2"), "Debug FX Graph");
    await code.press("Control+Shift+D");
    await code.paused("entry");
    await code.status("saved 1/").waitFor();
    await code.stop();
  });
});

test("VS Code asked nothing of other hosts", () => {
  assert.deepEqual(code.outside, []);
});
