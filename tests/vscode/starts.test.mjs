import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import path from "node:path";
import { after, before } from "node:test";
import { PYTHON, openWorkbench, scenes } from "./rig/workbench.mjs";

const SAVE = `
import torch
from mlp import MLP, example_inputs
torch.export.save(torch.export.export(MLP(), example_inputs()), "saved.pt2")
`;

let code;
before(async () => {
  const prepare = (workspace) => execFileSync(PYTHON, ["-c", SAVE], { cwd: workspace, stdio: "pipe" });
  code = await openWorkbench({ prepare });
});
after(() => code?.close());
const scene = scenes(() => code);
const row = (file) => code.page.locator(".explorer-folders-view .monaco-list-row", { hasText: file });

scene("Getting Started opens the walkthrough", async () => {
  await code.command("FX: Getting Started");
  await code.page.locator("text=Stop before a node").first().waitFor();
  await code.page.locator("text=Break where it matters").first().click();
  await code.page.locator("text=/Break on Selector/").first().waitFor();
  await code.shot("walkthrough");
});

scene("Open Graph Listing writes a listing before anything ran; a breakpoint in it is hit", async () => {
  await code.open("mlp.py", "Python");
  await code.command("FX: Open Graph Listing");
  await code.pick("mlp.py:MLP").click();
  await code.page.locator('.tab.active[data-resource-name="MLP.fxgraph"]').waitFor({ timeout: 60_000 });
  await code.page.locator('.statusbar-item[id="status.editor.mode"]', { hasText: "FX Graph" }).waitFor();
  await code.clickGutter(15);
  await code.breakpointDots().first().waitFor();
  await code.press("Control+Shift+D");
  await code.f5(code.stopButton()); // asks nothing: this listing's graph is known
  await code.paused("entry");
  await code.press("F5");
  await code.stoppedLine(/%linear_1:/);
  await code.paused("breakpoint");
});

scene("the status bar says where it is stopped", async () => {
  await code.status("MLP 11/15").waitFor();
  await code.press("F10");
  await code.status("MLP 12/15").waitFor();
  await code.press("Shift+F5");
  await code.notDebugging();
  await code.status("MLP 12/15").waitFor({ state: "hidden" });
});

scene("after the window was loaded anew the breakpoint is there, and F5 in the listing still works", async () => {
  await code.reload();
  await code.press("Control+Shift+D");
  await code.open(".fxdap/graphs/MLP.fxgraph", "FX Graph");
  await code.breakpointDots().first().waitFor();
  await code.f5(code.stopButton());
  await code.paused("entry");
  await code.press("Shift+F5");
  await code.notDebugging();
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
  await code.press("Shift+F5");
  await code.notDebugging();
});

scene("Run and Debug lists the graphs of the workspace", async () => {
  await code.command("Debug: Select and Start Debugging");
  await code.pick("Debug FX Graph...").click();
  await code.pick("Debug FX Graph: gpt.py:GPT").waitFor();
  await code.pick("Debug FX Graph: saved.pt2").waitFor();
  await code.shot("dynamic");
  await code.pick("Debug FX Graph: nested.py:Model").click();
  await code.paused("entry");
  await code.status("nested.Model 1/20").waitFor();
  await code.press("Shift+F5");
  await code.notDebugging();
});

scene("the menu of a .pt2 file debugs it", async () => {
  await code.press("Control+Shift+E");
  await code.menu(row("saved.pt2"), "Debug FX Graph");
  await code.press("Control+Shift+D");
  await code.paused("entry");
  await code.status("saved 1/").waitFor();
  await code.press("Shift+F5");
  await code.notDebugging();
});

scene("VS Code asked nothing of other hosts", () => {
  assert.deepEqual(code.outside, []);
});
