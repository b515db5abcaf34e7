import assert from "node:assert/strict";
import test, { after, before } from "node:test";
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
const { story, scene } = scenes(() => code);

/** Fills the box that the editor opens for a condition or a log message. */
async function edit(command, line, text, mode) {
  const widget = code.page.locator(".breakpoint-widget");
  await code.goTo(line);
  await code.command(command);
  await widget.locator(".monaco-editor.focused").waitFor();
  await code.page.keyboard.insertText(text);
  await widget.locator(".view-lines", { hasText: text.split(" ")[0] }).waitFor();
  if (mode !== undefined) {
    await widget.locator("select", { hasText: mode }).selectOption(mode);
    await widget.locator(".monaco-editor").click();
  }
  await code.press("Enter");
  await widget.waitFor({ state: "detached" });
}

story("selectors", () => {
  scene("a function breakpoint of the Breakpoints view takes a selector", async () => {
    await code.start("mlp");
    await code.paused("entry");
    await code.command("Add Function Breakpoint");
    await code.page.locator(".debug-breakpoints .monaco-inputbox input").fill("target:aten.relu");
    await code.press("Enter");
    await code.breakpoint("target:aten.relu").waitFor();
    await code.resume();
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
    await code.choosePick("Break on target:aten.linear");
    await code.breakpoint("target:aten.linear").waitFor();
    await code.resume();
    await code.stoppedLine(/%linear_1:/);
  });

  scene("Break on Every Such Operator, of a line's menu, adds its selector", async () => {
    await code.menu(code.line(/%add:/), "Break on Every Such Operator");
    await code.breakpoint("target:aten.add").waitFor();
    await code.resume();
    await code.stoppedLine(/%add:/);
  });

  scene("a watch shows its value and follows", async () => {
    await code.watch("relu.max() > 0");
    await code.watched("relu.max() > 0", "True").waitFor();
  });

  scene("the menu of a variable copies its expression", async () => {
    await code.expand("Env");
    await code.menu(() => code.variable("linear_1"), "Copy as Expression");
    await code.until("the name in the clipboard", async () => (await code.clipboard()) === "linear_1");
  });

  scene("the console completes names of nodes and attributes of their values", async () => {
    await code.suggestion("relu.sh", "shape");
    await code.shot("completion");
    await code.press("Escape");
    await code.suggestion("line", "linear_1");
    await code.press("Escape");
    await code.typeInConsole("");
  });

  scene("step out runs to the end of the module", async () => {
    await code.resume();
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
    await code.resume();
    await code.stoppedLine(/%linear:/);
    await code.paused("function breakpoint");
  });
});

story("breakpoints on lines", () => {
  scene("a conditional breakpoint stops where its condition holds", async () => {
    await code.choose("mlp");
    await code.paused("entry");
    await code.stoppedLine(/%fc1_weight:/);
    await edit("Debug: Add Conditional Breakpoint", code.lineOf("%relu"), "relu.max() > 1e6");
    await edit("Debug: Add Conditional Breakpoint", code.lineOf("%add"), "add.shape == (2, 8)");
    await code.resume();
    await code.stoppedLine(/%add:/);
    await code.paused("breakpoint");
  });

  scene("a logpoint writes its message to the console and goes on", async () => {
    await edit("Debug: Add Logpoint", code.lineOf("%softmax"), "classes: {linear_2.shape[-1]}");
    await code.command("Debug Console: Focus on Debug Console View");
    await code.resume();
    await code.console("classes: 4").waitFor();
    await code.shot("logpoint");
    await code.notDebugging();
  });
});

story("lines of a listing", () => {
  scene("the menu of a line's number runs to its node", async () => {
    await code.choose("mlp");
    await code.paused("entry");
    await code.stoppedLine(/%fc1_weight:/);
    await code.menu(code.lineNumber(code.lineOf("%relu")), "Run to This Node");
    await code.stoppedLine(/%relu:/);
  });

  scene("the menu of a line's number breaks on every such operator", async () => {
    await code.menu(code.lineNumber(code.lineOf("%add")), "Break on Every Such Operator");
    await code.breakpoint("target:aten.add").waitFor();
    await code.resume();
    await code.stoppedLine(/%add:/);
    await code.paused("function breakpoint");
  });

  scene("a breakpoint on a header slides to the node under it", async () => {
    const line = code.lineOf("%linear_2");
    await code.line(/^#\shead\s/).waitFor();
    await code.goTo(line - 1);
    await code.press("F9");
    await code.breakpoint("MLP.fxgraph").filter({ hasText: `${line}` }).waitFor();
    await code.resume();
    await code.stoppedLine(/%linear_2:/);
    await code.paused("breakpoint");
  });

  scene("hovering over a name in the model's source shows the value its line made", async () => {
    await code.frame("%linear_2").waitFor();
    await code.chooseFrame("MLP, line 18"); // VS Code hovers in the source of the frame that is chosen
    await code.page.locator('.tab.active[data-resource-name="mlp.py"]').waitFor();
    assert.match(await code.hover(/hidden\s=\storch/, "hidden"), /f32\[2, 16\] cpu/);
    await code.shot("source hover");
  });
});

story("modes", () => {
  scene("a breakpoint in the mode After the Node stops when it has run", async () => {
    await code.choose("mlp");
    await code.paused("entry");
    await code.stoppedLine(/%fc1_weight:/);
    await edit("Debug: Add Conditional Breakpoint", code.lineOf("%relu"), "True", "After the node");
    await code.resume();
    await code.stoppedLine(/%relu:/);
    await code.paused("breakpoint");
    await code.evaluate("relu.shape"); // it has a value
    await code.console("torch.Size([2, 16])").waitFor();
  });
});

story("sessions", () => {
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
    await code.choose("mlp");
    await code.session(/^mlp.*Paused On Entry/i);
    await code.session(/^nested.*Paused On Step/i);
    await code.shot("two sessions");
  });

  scene("each of them steps by itself", async () => {
    await code.step("F10", /nested\.model\/\S+ 2\/5/);
    await code.chooseSession(/^mlp/, "MLP 1/15");
    await code.step("F10", "MLP 2/15");
    await code.chooseSession(/^nested/, /nested\.model\/\S+ 2\/5/);
    await code.step("F10", /nested\.model\/\S+ 3\/5/);
  });

  scene("one is stopped and the other goes on", async () => {
    await code.chooseSession(/^mlp/, "MLP 2/15");
    await code.press("Shift+F5");
    await code.step("F10", /nested\.model\/\S+ 4\/5/);
    await code.stop();
  });
});

test("VS Code asked nothing of other hosts", () => {
  assert.deepEqual(code.outside, []);
});
