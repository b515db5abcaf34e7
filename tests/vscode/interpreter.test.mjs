import { execFileSync } from "node:child_process";
import path from "node:path";
import { after, before } from "node:test";
import { PYTHON, openWorkbench, scenes } from "./rig/workbench.mjs";

// A Python with neither fxdap nor pip, in a folder with a space in its name.
const EMPTY = "my env/bin/python";
const MISSING = `fxdap and torch are not installed in`;

let code;
before(async () => {
  code = await openWorkbench({ settings: { "fxdap.interpreter": `\${workspaceFolder}/${EMPTY}` } });
  execFileSync(PYTHON, ["-m", "venv", "--without-pip", path.join(code.workspace, "my env")]);
});
after(() => code?.close());
const scene = scenes(() => code);

scene("F5 with an interpreter that lacks fxdap says so and names it", async () => {
  await code.open("mlp.py", "Python");
  const message = code.notification(MISSING);
  await code.f5(message);
  await message.locator(`text=${EMPTY} (setting fxdap.interpreter)`).waitFor();
  await code.shot("missing");
});

scene("the install button runs pip with that interpreter in a terminal", async () => {
  await code.notification(MISSING).locator(".monaco-button", { hasText: "Install fxdap and torch" }).click();
  await code.terminal(`${EMPTY}: No module named pip`);
});

scene("the choice button opens the setting", async () => {
  await code.open("mlp.py", "Python");
  await code.f5(code.notification(MISSING));
  await code.notification(MISSING).locator(".monaco-button", { hasText: "Choose Interpreter" }).click();
  await code.page.locator(".settings-editor .setting-item-label", { hasText: "Interpreter" }).waitFor();
});

scene("the log button shows what was asked and answered", async () => {
  await code.open("mlp.py", "Python");
  await code.f5(code.notification(MISSING));
  await code.notification(MISSING).locator(".monaco-button", { hasText: "Show Log" }).click();
  await code.page.locator(".output-view .view-line", { hasText: MISSING }).first().waitFor();
});
