import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { PYTHON, openWorkbench } from "./rig/workbench.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));

test("inside the extension host", async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "fxdap-host-"));
  const results = path.join(folder, "results.json");
  const selected = path.join(folder, "selected python");
  fs.symlinkSync(path.dirname(path.dirname(PYTHON)), selected);
  const code = await openWorkbench({
    extensions: ["runner", "python"].map((name) => path.join(here, "host", name)),
    env: { FXDAP_HOST_RESULTS: results, FXDAP_SELECTED_PYTHON: path.join(selected, "bin", "python") },
    settings: { "fxdap.interpreter": "" },
    prepare: (workspace) => fs.symlinkSync(path.dirname(path.dirname(PYTHON)), path.join(workspace, ".venv")),
  });
  try {
    for (const deadline = Date.now() + 400_000; !fs.existsSync(results); await sleep(100)) {
      assert.ok(Date.now() < deadline, "the tests in the extension host did not end");
    }
    for (const { name, error, took } of JSON.parse(fs.readFileSync(results, "utf8"))) {
      await t.test(`${name} (${took.toFixed()} ms)`, () => assert.equal(error, ""));
    }
  } catch (error) {
    await code.shot("failed host");
    throw error;
  } finally {
    await code.close();
    fs.rmSync(folder, { recursive: true, force: true });
  }
});
