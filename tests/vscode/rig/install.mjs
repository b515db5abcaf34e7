// Installs what the tests and `make vscode` run on, from the npm registry only and without compiling:
// the VS Code server that the package `code-server` carries, a Node.js new enough for it, and
// with `tools: true` what the tests import.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const CODE_SERVER = "4.139.1"; // VS Code 1.139.1
const NODE = "24.21.0";
const NPM_QUIET = ["--no-audit", "--no-fund", "--loglevel=error"];

const here = path.dirname(fileURLToPath(import.meta.url));
export const checkout = path.resolve(here, "../../..");
export const root = path.resolve(process.env.FXDAP_VSCODE_RIG || path.join(checkout, ".vscode-rig"));
const vscode = path.join(root, "vscode");
const tools = path.join(root, "tools");
const packaged = path.join(root, "node", "node");

export const rig = {
  root,
  get node() {
    return newEnough(process.version) ? process.execPath : packaged;
  },
  server: path.join(vscode, "out", "server-main.js"),
  /** require() for the packages of tests/vscode/package.json. */
  require: createRequire(path.join(tools, "package.json")),
};

export function install({ tools: withTools = false } = {}) {
  fs.mkdirSync(root, { recursive: true });
  fs.writeFileSync(path.join(root, ".gitignore"), "*\n");
  if (!newEnough(process.version)) {
    once(path.dirname(packaged), NODE, installNode);
  }
  once(vscode, CODE_SERVER, installServer);
  if (withTools) {
    const lock = fs.readFileSync(path.join(here, "..", "package-lock.json"), "utf8");
    once(tools, lock, installTools);
  }
}

/** Fills a folder unless it holds this version already; an interrupted installation starts again. */
function once(folder, version, fill) {
  const stamp = path.join(folder, ".version");
  if (fs.existsSync(stamp) && fs.readFileSync(stamp, "utf8") === version) {
    return;
  }
  console.log(`installing ${path.basename(folder)} into ${root}`);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  fill(folder);
  fs.writeFileSync(stamp, version);
}

function newEnough(version) {
  return Number(version.slice(1).split(".")[0]) >= 24;
}

function installNode(folder) {
  const name = `node-${process.platform}-${process.arch}@${NODE}`;
  const unpacked = unpack(name, "package/bin/node");
  fs.renameSync(path.join(unpacked, "package/bin/node"), path.join(folder, "node"));
  fs.rmSync(unpacked, { recursive: true });
}

function installServer(folder) {
  const unpacked = unpack(`code-server@${CODE_SERVER}`, "package/lib/vscode");
  fs.rmSync(folder, { recursive: true });
  fs.renameSync(path.join(unpacked, "package/lib/vscode"), folder);
  fs.rmSync(unpacked, { recursive: true });
  removeExtensions(path.join(folder, "extensions"));
  removeDependencies(path.join(folder, "package.json"));
  run("npm", ["install", "--omit=dev", "--ignore-scripts", ...NPM_QUIET], folder);
  for (const name of ["@vscode/spdlog", "@vscode/native-watchdog"]) {
    const target = path.join(folder, "node_modules", name);
    fs.mkdirSync(target, { recursive: true });
    fs.copyFileSync(path.join(here, "stand-ins", `${path.basename(name)}.js`), path.join(target, "index.js"));
    fs.writeFileSync(path.join(target, "package.json"), JSON.stringify({ name, version: "0.0.0", main: "index.js" }));
  }
}

/** Extensions that are large, or that ask for accounts and the network. */
function removeExtensions(folder) {
  const unwanted = /^(copilot|git|github|mermaid-.*|microsoft-authentication|tunnel-forwarding|debug-auto-launch|ms-vscode\..*)$/;
  for (const name of fs.readdirSync(folder).filter((name) => unwanted.test(name))) {
    fs.rmSync(path.join(folder, name), { recursive: true });
  }
}

/** Dependencies that need a compiler, or that only features unused here load. */
function removeDependencies(file) {
  const unwanted = [
    "@devcontainers/cli", "@github/copilot-sdk", "@microsoft/mxc-sdk", "@vscode/copilot-api",
    "@vscode/fs-copyfile", "@vscode/native-watchdog", "@vscode/sandbox-runtime", "@vscode/spdlog",
    "@vscode/sqlite3", "@vscode/windows-process-tree", "@vscode/windows-registry", "kerberos", "ssh2",
  ];
  const manifest = JSON.parse(fs.readFileSync(file, "utf8"));
  for (const name of unwanted) {
    delete manifest.dependencies[name];
  }
  // Overrides and script permissions may only speak of packages that are still there.
  delete manifest.allowScripts;
  for (const name of Object.keys(manifest.overrides ?? {})) {
    if (/^(kerberos|koffi)/.test(name)) {
      delete manifest.overrides[name];
    }
  }
  fs.writeFileSync(file, JSON.stringify(manifest, null, 2));
}

function installTools(folder) {
  for (const name of ["package.json", "package-lock.json", ".npmrc"]) {
    fs.copyFileSync(path.join(here, "..", name), path.join(folder, name));
  }
  run("npm", ["ci", "--ignore-scripts", ...NPM_QUIET], folder);
}

/** Downloads a package and unpacks one path of it; gives the folder that it was unpacked into. */
function unpack(name, member) {
  const folder = fs.mkdtempSync(path.join(root, "download-"));
  const packed = JSON.parse(run("npm", ["pack", "--json", "--loglevel=error", name], folder));
  const { filename } = Array.isArray(packed) ? packed[0] : Object.values(packed)[0];
  run("tar", ["xzf", filename, member], folder);
  fs.rmSync(path.join(folder, filename));
  return folder;
}

function run(program, args, cwd) {
  const options = { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], maxBuffer: 1 << 26 };
  return execFileSync(program, args, options);
}
