import assert from "node:assert/strict";
import { after, before } from "node:test";
import { openWorkbench, scenes } from "./rig/workbench.mjs";

let code;
before(async () => {
  code = await openWorkbench({
    launch: [
      { name: "mlp", graph: "${workspaceFolder}/mlp.py:MLP" },
      { name: "nested", graph: "${workspaceFolder}/nested.py:model" },
    ],
  });
});
after(() => code?.close());
const scene = scenes(() => code);

/** Fills the box that the editor opens for a condition or a log message. */
async function edit(command, line, text) {
  await code.goTo(line);
  await code.command(command);
  await code.page.locator(".breakpoint-widget .monaco-editor.focused").waitFor();
  await code.page.keyboard.type(text);
  await code.press("Enter");
  await code.page.locator(".breakpoint-widget").waitFor({ state: "detached" });
}

scene("a function breakpoint of the Breakpoints view takes a selector", async () => {
  await code.start("mlp");
  await code.paused("entry");
  await code.command("Add Function Breakpoint");
  await code.page.locator(".debug-breakpoints .monaco-inputbox input").fill("target:aten.relu");
  await code.press("Enter");
  await code.breakpoint("target:aten.relu").waitFor();
  await code.press("F5");
  await code.stoppedLine(/%relu:/);
  await code.paused("function breakpoint");
});

scene("Break on Selector counts matches while typing, and breaks", async () => {
  await code.command("FX: Break on Selector");
  await code.pick("every call of an operator").waitFor();
  await code.type("target:aten.linear");
  await code.pick(/Break on target:aten\.linear.*3 nodes/).waitFor();
  await code.pick("%linear_2: f32[2, 4]").waitFor();
  await code.shot("selector");
  await code.pick("Break on target:aten.linear").click();
  await code.breakpoint("target:aten.linear").waitFor();
  await code.press("F5");
  await code.stoppedLine(/%linear_1:/);
});

scene("Break on Every Such Operator, of a line's menu, adds its selector", async () => {
  await code.menu(code.line(/%add:/), "Break on Every Such Operator");
  await code.breakpoint("target:aten.add").waitFor();
  await code.press("F5");
  await code.stoppedLine(/%add:/);
});

scene("a watch shows its value and follows", async () => {
  await code.page.locator(".pane-header", { hasText: "Watch" }).hover();
  await code.page.locator('[aria-label="Add Expression"]').click();
  await code.page.locator(".debug-watch .monaco-inputbox input").fill("relu.max() > 0");
  await code.press("Enter");
  await code.page.locator(".debug-watch .monaco-list-row", { hasText: "relu.max() > 0" }).filter({ hasText: "True" }).waitFor();
});

scene("the menu of a variable copies its expression", async () => {
  await code.expand(code.scope("Env"));
  await code.menu(code.variable("linear_1"), "Copy as Expression");
  assert.equal(await code.clipboard(), "linear_1");
});

scene("the console completes names of nodes and attributes of their values", async () => {
  await code.typeInConsole("relu.sh");
  await code.press("Control+Space");
  await code.suggestion("shape").waitFor();
  await code.shot("completion");
  await code.press("Escape");
  await code.press("Control+A");
  await code.page.keyboard.type("line");
  await code.press("Control+Space");
  await code.suggestion("linear_1").waitFor();
  await code.press("Escape");
  await code.press("Control+A");
  await code.press("Delete");
});

scene("step out runs to the end of the module", async () => {
  await code.press("F5");
  await code.stoppedLine(/%linear_2:/);
  await code.frame("head").waitFor();
  await code.press("Shift+F11");
  await code.stoppedLine(/%softmax:/);
  await code.frame("%softmax").waitFor();
  await code.frame("head").waitFor({ state: "detached" }); // until then, frames of the stop before
});

scene("restart begins anew, with the same breakpoints", async () => {
  await code.press("Control+Shift+F5");
  await code.paused("entry");
  await code.stoppedLine(/%fc1_weight:/);
  await code.press("F5");
  await code.stoppedLine(/%linear:/);
  await code.paused("function breakpoint");
  await code.command("Remove All Breakpoints");
});

scene("a conditional breakpoint stops where its condition holds", async () => {
  await edit("Debug: Add Conditional Breakpoint", 13, "relu.max() > 1e6");
  await edit("Debug: Add Conditional Breakpoint", 17, "add.shape == (2, 8)");
  await code.press("F5");
  await code.stoppedLine(/%add:/);
  await code.paused("breakpoint");
});

scene("a logpoint writes its message to the console and goes on", async () => {
  await edit("Debug: Add Logpoint", 21, "classes: {linear_2.shape[-1]}");
  await code.command("Debug Console: Focus on Debug Console View");
  await code.press("F5");
  await code.console("classes: 4").waitFor();
  await code.shot("logpoint");
  await code.notDebugging();
  await code.command("Remove All Breakpoints");
});

scene("step in goes into a nested graph", async () => {
  await code.choose("nested");
  await code.status("nested.model 1/5").waitFor(); // from now on VS Code takes steps
  await code.press("F10");
  await code.status("nested.model 2/5").waitFor();
  await code.press("F11");
  await code.stoppedLine(/^ {4}layer\/%x = /);
  await code.status(/nested\.model\/layer 1\/5/).waitFor();
  await code.press("F10");
  await code.stoppedLine(/^ {4}layer\/%gate = /);
  await code.status(/nested\.model\/layer 2\/5/).waitFor();
  await code.press("F11");
  await code.stoppedLine(/^ {6}layer\.gate\/%x = /);
  await code.status(/nested\.model\/\S+ 1\/5/).waitFor();
  await code.shot("nested");
});

scene("two sessions stop side by side", async () => {
  const session = (name) => code.page.locator('[aria-label="Debug Call Stack"] .monaco-list-row', { hasText: name });
  await code.choose("mlp");
  await session(/^mlp.*Paused On Entry/i).waitFor();
  await session(/^nested.*Paused On Step/i).waitFor();
  await code.shot("two sessions");
});

scene("VS Code asked nothing of other hosts", () => {
  assert.deepEqual(code.outside, []);
});
