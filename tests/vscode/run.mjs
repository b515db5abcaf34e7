// Runs every *.test.mjs here: those that open VS Code only where there is a Chromium.
//   node run.mjs [FILE...]
// A line "skipped: ..." says what did not run and why, "retried: ..." what did not pass at once: what
// failed stays above it, to be looked into (FXDAP_UI_RETRIES=0 retries nothing).
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { findChromium } from "./rig/chromium.mjs";
import { checkout, install, rig } from "./rig/install.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const EXTENSION = path.join(checkout, "extension");
const NEED_NO_EDITOR = ["client.test.mjs"];
const RETRIES = Number(process.env.FXDAP_UI_RETRIES ?? 1);

const asked = process.argv.slice(2).map((name) => path.basename(name));
let files = fs.readdirSync(here).filter((name) => name.endsWith(".test.mjs")).sort();
if (asked.length > 0) {
  files = files.filter((name) => asked.includes(name));
}
const lacking = files.every((name) => NEED_NO_EDITOR.includes(name)) ? "" : lacksChromium();
if (lacking) {
  console.log(`skipped: tests in VS Code: ${lacking}`);
  files = files.filter((name) => NEED_NO_EDITOR.includes(name));
}
install({ tools: true });
buildExtension();
let failed = 0;
for (const file of files) {
  let passes = passed(file);
  for (let left = RETRIES; !passes && left > 0; left--) {
    console.log(`retried: ${file} failed, and runs once more in a new window`);
    passes = passed(file);
  }
  failed += passes ? 0 : 1;
}
process.exit(failed);

function passed(file) {
  const options = ["--test-timeout=600000", "--test-reporter=spec"];
  return spawnSync(rig.node, ["--test", ...options, file], { cwd: here, stdio: "inherit" }).status === 0;
}

/** Why there is no Chromium, "" if there is one; on a Debian where this is root, installs it. */
function lacksChromium() {
  if (findChromium()) {
    return "";
  }
  if (process.getuid?.() !== 0 || !fs.existsSync("/usr/bin/apt-get")) {
    return "no Chromium on PATH; as root on Debian it would be installed (FXDAP_CHROMIUM names another)";
  }
  const lock = ["-o", "DPkg::Lock::Timeout=300"];
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [["update", "-qq"], ["install", "-y", "-qq", "chromium"]]) {
    const { status, stderr } = spawnSync("apt-get", [...lock, ...args], { env, encoding: "utf8" });
    if (status !== 0) {
      return `apt-get ${args.join(" ")}: ${stderr.trim().split("\n").at(-1)}`;
    }
  }
  return findChromium() ? "" : "apt-get installed no Chromium";
}

/** Builds extension/fxdap.vsix unless it is newer than everything it is made of. */
function buildExtension() {
  const vsix = path.join(EXTENSION, "fxdap.vsix");
  const sources = fs
    .readdirSync(EXTENSION, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && !/[\\/](node_modules|dist)([\\/]|$)/.test(each.parentPath ?? each.path))
    .map((each) => path.join(each.parentPath ?? each.path, each.name))
    .filter((file) => file !== vsix);
  const built = fs.existsSync(vsix) ? fs.statSync(vsix).mtimeMs : 0;
  if (sources.every((file) => fs.statSync(file).mtimeMs <= built)) {
    return;
  }
  if (!fs.existsSync(path.join(EXTENSION, "node_modules"))) {
    execFileSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: EXTENSION, stdio: "inherit" });
  }
  execFileSync("npm", ["run", "--silent", "package"], { cwd: EXTENSION, stdio: ["ignore", "ignore", "inherit"] });
}
