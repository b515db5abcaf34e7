import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before } from "node:test";
import { openWorkbench, scenes } from "./rig/workbench.mjs";

const SLOW = `
import time
import torch

class Slow(torch.nn.Module):
    def __init__(self):
        super().__init__()
        while True:
            time.sleep(0.1)

def example_inputs():
    return (torch.ones(2),)
`;

const FAILING = `
import torch

class Failing(torch.nn.Module):
    def forward(self, x):
        return torch.mm(torch.relu(x), x)

def example_inputs():
    return (torch.ones(2, 3),)
`;

let code;

before(async () => {
  const failing = { graph: "${workspaceFolder}/failing.py:Failing", capture: "symbolic_trace", stopOnEntry: false };
  code = await openWorkbench({
    files: { "slow.py": SLOW, "failing.py": FAILING },
    launch: [
      { name: "Debug FX Graph", graph: "${workspaceFolder}/mlp.py:MLP" },
      { name: "traced", graph: "${workspaceFolder}/mlp.py:MLP", capture: "symbolic_trace" },
      { name: "in a terminal", program: "${workspaceFolder}/mlp.py", console: "integratedTerminal", stopOnEntry: false },
      { name: "slow", graph: "${workspaceFolder}/slow.py:Slow" },
      { name: "failing", ...failing },
    ],
  });
});
after(() => code?.close());
const { story, scene } = scenes(() => code);

story("a first session", () => {
  scene("F5 stops before the first node: listing, call stack and variables show it", async () => {
    await code.start("Debug FX Graph");
    await code.paused("entry");
    const stopped = await code.stoppedLine(/^ {2}%\w+/);

    const listing = fs.readFileSync(path.join(code.workspace, ".fxdap/graphs/MLP.fxgraph"), "utf8").split("\n");
    assert.equal(stopped, listing.find((line) => line.startsWith("  %")));
    const [, name] = /%(\w+)/.exec(stopped);
    await code.frame(`%${name}`).waitFor();
    await code.scope("Node");
    const row = await code.variable("target");
    assert.match(await row.getAttribute("aria-label"), /^target, value fc1\.weight/);
    await code.shot("entry");
  });

  scene("a gutter breakpoint in the listing is hit", async () => {
    await code.clickGutter(code.lineOf("%relu"));
    await code.breakpoint("MLP.fxgraph").waitFor();
    await code.resume();
    assert.match(await code.stoppedLine(/%relu:/), /= aten\.relu\.default\(%linear\)$/);
    await code.paused("breakpoint");
    await code.frame("%relu").waitFor();
  });

  scene("step over runs one node and shows what it gave", async () => {
    await code.press("F10");
    await code.stoppedLine(/%linear_1:/);
    const argument = await code.variable("input ← %relu");
    assert.match(await argument.getAttribute("aria-label"), /, value f32\[2, 16\] cpu {2}min 0\b/);
    await code.expand("Returned");
    const returned = await code.variable("relu");
    assert.match(await returned.getAttribute("aria-label"), /, value f32\[2, 16\] cpu {2}min 0\b/);
    await code.shot("step");
  });

  scene("each line above the stop ends with its value", async () => {
    await code.line(/%relu:.*relu\s=\sf32\[2,\s16\]\scpu/).waitFor();
    assert.equal(await code.line(/%linear_1:.*linear_1\s=/).count(), 0);
  });

  scene("hovering over a node's name shows its value", async () => {
    assert.match(await code.hover("%linear_1: ", "%relu"), /f32\[2, 16\] cpu/);
    await code.shot("hover");
  });

  scene("the Debug Console evaluates Python over node names", async () => {
    await code.evaluate("relu.shape");
    await code.console("torch.Size([2, 16])").waitFor();
    await code.shot("console");
  });

  scene("the node a thread is stopped at opens as a script", async () => {
    await code.command("FX: Save This Node as a Script");
    await code.line(/torch\.ops\.aten\.linear\.default|aten\.linear/).first().waitFor();
    await code.line(/import\storch/).first().waitFor();
  });

  scene("a gutter breakpoint on a line of the model is hit", async () => {
    await code.open("mlp.py", "Python");
    await code.clickGutter(18);
    await code.breakpoint("mlp.py").waitFor();
    await code.resume();
    await code.stoppedLine(/%linear_2:/);
    await code.paused("breakpoint");
  });

  scene("continue runs to the end", async () => {
    await code.resume();
    await code.notDebugging();
  });
});

story("a graph that changes", () => {
  scene("a listing that the next launch writes anew is shown anew", async () => {
    for (const [configuration, first] of [
      ["Debug FX Graph", /^ {2}%fc1_weight: /],
      ["traced", /^ {2}%x = placeholder$/],
      ["Debug FX Graph", /^ {2}%fc1_weight: /],
    ]) {
      await code.choose(configuration);
      await code.paused("entry");
      await code.stoppedLine(first);
      await code.stop();
    }
  });
});

story("what takes long", () => {
  scene("a capture is a notification whose Cancel ends it", async () => {
    await code.choose("slow");
    const capture = code.notification("Capturing");
    await capture.waitFor();
    await code.shot("capture");
    await capture.locator(".monaco-button", { hasText: "Cancel" }).click();
    await code.notDebugging();
    await capture.waitFor({ state: "detached" });
  });
});

story("exceptions", () => {
  scene("a node that raises stops", async () => {
    await code.choose("failing");
    await code.stoppedLine(/%mm = torch\.mm/);
    await code.paused("exception");
  });

  scene("below the node's line it says what was raised, at which node, with its arguments", async () => {
    const widget = code.page.locator(".exception-widget");
    await widget.locator("text=Exception has occurred: RuntimeError").waitFor();
    const text = (await widget.textContent()).replaceAll("\u00a0", " ");
    assert.match(text, /shapes cannot be multiplied \(2x3 and 2x3\)/);
    assert.match(text, /at %mm = torch\.mm\(%relu, %x\)\s+args\[0\] ← %relu = f32\[2, 3\] cpu/);
    assert.doesNotMatch(text, /graph_module\.py/); // who called the graph is no news
    await code.scope("Node");
    await code.shot("exception");
    await code.stop();
  });

  scene("without its filter in the Breakpoints view it does not stop", async () => {
    const filter = code.page.locator(".debug-breakpoints .monaco-list-row", { hasText: "A node raises" });
    await filter.locator(".monaco-checkbox, input[type=checkbox]").first().click();
    await code.choose("failing");
    await code.notDebugging();
    await filter.locator(".monaco-checkbox, input[type=checkbox]").first().click();
  });
});

story("a program", () => {
  scene("with console integratedTerminal the program runs in a terminal", async () => {
    await code.open("mlp.py", "Python");
    await code.clickGutter(18);
    await code.choose("in a terminal");
    await code.paused("breakpoint");
    await code.resume();
    await code.terminal("grad_fn=<SoftmaxBackward0>");
    await code.notDebugging();
  });
});
