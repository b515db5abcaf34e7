// `make vscode`: VS Code in a browser, on a copy of sample_models/, with the extension installed.
import fs from "node:fs";
import path from "node:path";
import { checkout, install, rig } from "./rig/install.mjs";
import { installExtension, startServer } from "./rig/server.mjs";

const LAUNCH = {
  version: "0.2.0",
  configurations: [
    { name: "Debug FX Graph", graph: "${workspaceFolder}/mlp.py:MLP" },
    { name: "Debug FX Graph: exported GPT", graph: "${workspaceFolder}/gpt.py:GPT", capture: "export" },
    { name: "Debug FX Graph: current file", program: "${file}" },
  ].map(({ name, ...rest }) => ({ name, type: "fxdap", request: "launch", ...rest })),
};

const vsix = path.join(checkout, "extension", "fxdap.vsix");
if (!fs.existsSync(vsix)) {
  console.error("extension/fxdap.vsix is missing: `make extension` builds it");
  process.exit(1);
}
install();
const folder = path.join(rig.root, "demo");
const workspace = path.join(folder, "sample_models");
copySamples(workspace);
installExtension(vsix, folder);
const server = await startServer({
  folder,
  port: process.env.PORT ? Number(process.env.PORT) : undefined,
  settings: { "fxdap.interpreter": process.env.FXDAP_PYTHON ?? path.join(checkout, ".venv", "bin", "python") },
});
console.log(`\nVS Code is at\n\n  ${server.url(workspace, path.join(workspace, "mlp.py"))}\n`);
console.log("Open it and press F5: \"Debug FX Graph\" stops before the first node. Ctrl+C here ends it.");
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => server.stop());
}
await server.exited;

/** Takes over what is newer in the checkout, and leaves alone what was edited in the editor. */
function copySamples(target) {
  const newer = (from, to) => !fs.existsSync(to) || fs.statSync(from).mtimeMs > fs.statSync(to).mtimeMs;
  const filter = (from, to) =>
    fs.statSync(from).isDirectory() ? !/^(__pycache__|\..*)$/.test(path.basename(from)) : newer(from, to);
  fs.cpSync(path.join(checkout, "sample_models"), target, { recursive: true, filter });
  const launch = path.join(target, ".vscode", "launch.json");
  if (!fs.existsSync(launch)) {
    fs.mkdirSync(path.dirname(launch), { recursive: true });
    fs.writeFileSync(launch, JSON.stringify(LAUNCH, null, 2));
  }
}
