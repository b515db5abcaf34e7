import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before } from "node:test";
import { PYTHON, openWorkbench, scenes } from "./rig/workbench.mjs";

// A Python with neither fxdap nor pip, in a folder with a space in its name.
const EMPTY = "my env/bin/python";
const MISSING = `fxdap and torch are not installed in`;

let code;
before(async () => {
  code = await openWorkbench({
    settings: { "fxdap.interpreter": `\${workspaceFolder}/${EMPTY}` },
    env: { PYTHONPATH: "" }, // or it might have fxdap all the same
  });
  execFileSync(PYTHON, ["-m", "venv", "--without-pip", path.join(code.workspace, "my env")]);
});
after(() => code?.close());
const { story, scene } = scenes(() => code);

/** Puts an empty package of that version into the Python. */
function pretend(name, version) {
  const lib = path.join(code.workspace, "my env/lib");
  const packages = path.join(lib, fs.readdirSync(lib)[0], "site-packages");
  for (const old of fs.readdirSync(packages).filter((each) => each.startsWith(`${name}-`))) {
    fs.rmSync(path.join(packages, old), { recursive: true });
  }
  const info = path.join(packages, `${name}-${version}.dist-info`);
  fs.mkdirSync(info);
  fs.writeFileSync(path.join(info, "METADATA"), `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`);
  fs.mkdirSync(path.join(packages, name), { recursive: true });
  fs.writeFileSync(path.join(packages, name, "__init__.py"), "");
}

story("an interpreter without fxdap", () => {
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
});

story("versions that do not fit", () => {
  scene("a torch that is too old is named, with the oldest that will do", async () => {
    pretend("fxdap", "0.0.9");
    pretend("torch", "2.1.0");
    await code.open("mlp.py", "Python");
    const message = code.notification("torch 2.1.0 in");
    await code.f5(message);
    await message.locator("text=is too old: fxdap needs 2.12 or newer").waitFor();
    await message.locator(".monaco-button", { hasText: "Update torch" }).waitFor();
  });

  scene("a package older than the extension is named, with a way to update it", async () => {
    pretend("torch", "2.12.0");
    await code.open("mlp.py", "Python");
    const message = code.notification("fxdap 0.0.9 in");
    await code.f5(message);
    await message.locator("text=is older than this extension").waitFor();
    await message.locator(".monaco-button", { hasText: "Update fxdap" }).waitFor();
  });
});

story("another interpreter", () => {
  scene("a changed setting holds for the next session", async () => {
    choose(PYTHON);
    await code.open("mlp.py", "Python");
    await code.f5(code.pausedOn("entry"));
    await code.evaluate("__import__('sys').executable");
    await code.console(PYTHON).waitFor();
    await code.stop();
  });

  scene("changed again, it holds for the session after", async () => {
    const other = path.join(code.workspace, "other env");
    fs.symlinkSync(path.dirname(path.dirname(PYTHON)), other);
    choose("${workspaceFolder}/other env/bin/python");
    await code.open("mlp.py", "Python");
    await code.f5(code.pausedOn("entry"));
    await code.evaluate("__import__('sys').executable");
    await code.console(path.join(other, "bin/python")).waitFor();
    await code.stop();
  });
});

/** Changes the setting, as the settings editor does. */
function choose(interpreter) {
  const file = path.join(code.folder, "user-data/User/settings.json");
  const settings = JSON.parse(fs.readFileSync(file, "utf8"));
  fs.writeFileSync(file, JSON.stringify({ ...settings, "fxdap.interpreter": interpreter }));
}
