// The language server as VS Code shows it: listings nobody runs yet, `.pt2` files, Python.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before } from "node:test";
import { retry } from "./rig/retry.mjs";
import { PYTHON, openWorkbench, scenes } from "./rig/workbench.mjs";

const PREPARE = `
import torch
from mlp import MLP, example_inputs
from fxdap.cli import main
torch.export.save(torch.export.export(MLP(), example_inputs()), "saved.pt2")
open("broken.pt2", "w").write("not a program")
main(["list", "mlp.py:MLP"])
`;

const FAULTY = `from torch import fx


class Mine(fx.Interpreter):
    def run_node(self, n):
        super().run_node(n)
`;

let code;
before(async () => {
  const prepare = (workspace) => execFileSync(PYTHON, ["-c", PREPARE], { cwd: workspace, stdio: "pipe" });
  code = await openWorkbench({ prepare, files: { "faulty.py": FAULTY } });
});
after(() => code?.close());
const { story, scene } = scenes(() => code);

const lens = (text) => code.page.locator(".codelens-decoration a, .codelens-decoration span", { hasText: text });

/** Opens a file that its own editor shows. */
function openAsListing(name) {
  return retry(`open ${name}`, async () => {
    await code.quick("Control+P", `${code.workspace}/${name}`, name);
    await code.press("Enter");
  });
}

story("a listing without a session", () => {
  scene("module headers say what is in the module", async () => {
    await code.open(".fxdap/graphs/MLP.fxgraph", "FX Graph");
    await lens("15 nodes, ").first().waitFor();
    await lens("1 node, 128 B").first().waitFor();
    await code.shot("lenses");
  });

  scene("hovering over a node says what the listing knows", async () => {
    const word = code.line(/%relu:/).locator("span span", { hasText: "%relu" }).first();
    const hover = code.page.locator(".monaco-hover-content", { hasText: "call_function" }).first();
    await retry("hover over %relu", async (timeout) => {
      await code.page.mouse.move(5, 5);
      await word.hover({ timeout });
      await hover.waitFor({ timeout });
    });
    const text = (await hover.textContent()).replaceAll("\u00a0", " ");
    assert.match(text, /%relu: f32\[2, 16\], 128 B/);
    assert.match(text, /read by %linear_1/);
    await code.shot("static hover");
  });

  scene("the outline has the modules and their nodes", async () => {
    await code.quick("Control+Shift+O", "@fc2", "fc2");
    await code.quick("Control+Shift+O", "@%soft", "%softmax");
    await code.press("Escape");
  });

  scene("a lens starts the listing's graph and stops at the module", async () => {
    await retry("the lens above fc2", async (timeout) => {
      const header = await code.line(/#\sfc2\s+Linear/).first().boundingBox({ timeout });
      const lenses = code.page.locator(".codelens-decoration a", { hasText: "Run to here" });
      await lenses.first().waitFor({ timeout });
      const links = await lenses.all();
      const boxes = await Promise.all(links.map(async (link) => [await link.boundingBox({ timeout }), link]));
      const [[, above]] = boxes.filter(([box]) => box?.y < header.y).sort(([a], [b]) => b.y - a.y);
      await above.click({ timeout });
    });
    await code.choosePick("mlp.py:MLP"); // nothing has told yet what wrote this listing
    await code.stoppedLine(/%linear_1:/);
    await code.paused("function breakpoint");
  });

  scene("each line above the stop ends with its value", async () => {
    await code.line(/%relu:.*relu\s=\sf32\[2,\s16\]\scpu/).first().waitFor();
    assert.equal(await code.line(/%linear_1:.*linear_1\s=/).count(), 0);
    await code.stop();
  });
});

story(".pt2 files", () => {
  scene("opening one shows its listing, and F5 there debugs it", async () => {
    await openAsListing("saved.pt2");
    await code.page.locator('.tab.active[data-resource-name="saved.fxgraph"]').waitFor({ timeout: 60_000 });
    await code.line(/%relu:\sf32\[2,\s16\]\s=\saten\.relu\.default/).first().waitFor();
    await code.shot("pt2");
    await code.debugView();
    await code.f5(code.stopButton());
    await code.paused("entry");
    await code.stop();
  });

  scene("one that cannot be read says why", async () => {
    await openAsListing("broken.pt2");
    const frame = code.page.frameLocator("iframe.webview.ready").frameLocator("#active-frame");
    const text = /broken.pt2 cannot be shown.*torch.export cannot load it/;
    await frame.locator("p", { hasText: text }).waitFor({ timeout: 60_000 });
    await code.shot("broken pt2");
  });
});

story("Python", () => {
  scene("a quick fix puts right what a subclass of Interpreter forgot", async () => {
    await code.open("faulty.py", "Python");
    await code.page.locator(".squiggly-error, .squiggly-warning").first().waitFor();
    await code.goTo(5);
    const fix = code.page.locator(".action-widget .monaco-list-row", { hasText: "Return the value" });
    await retry("quick fix", async (timeout) => {
      await code.command("View: Focus Active Editor Group");
      await code.press("Control+.");
      await fix.waitFor({ timeout });
    });
    await fix.click();
    await code.line(/return\ssuper\(\)\.run_node\(n\)/).waitFor();
    await code.page.locator(".squiggly-error, .squiggly-warning").first().waitFor({ state: "detached" });
  });

  scene("a lens above a model debugs it", async () => {
    await code.open("mlp.py", "Python");
    await lens("Debug FX Graph").first().click();
    await code.paused("entry");
    await code.status("MLP 1/15").waitFor();
    await code.stop();
  });
});

scene("VS Code asked nothing of other hosts", () => {
  assert.deepEqual(code.outside, []);
});
