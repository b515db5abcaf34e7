// A VS Code server with one extension installed, and nothing that asks questions or the network.
import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { rig } from "./install.mjs";

const QUIET = {
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "update.showReleaseNotes": false,
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
  "workbench.startupEditor": "none",
  "workbench.enableExperiments": false,
  "workbench.tips.enabled": false,
  "workbench.settings.enableNaturalLanguageSearch": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.welcomePage.walkthroughs.openOnInstall": false,
  "chat.disableAIFeatures": true,
  "chat.commandCenter.enabled": false,
  "git.enabled": false,
  "npm.fetchOnlinePackageInfo": false,
  "json.schemaDownload.enable": false,
  "typescript.disableAutomaticTypeAcquisition": true,
  "remote.autoForwardPorts": false,
  "debug.toolBarLocation": "docked",
};

/**
 * @param {{folder: string, settings?: object, env?: object, port?: number}} options
 *   folder: where server data, settings and extensions live
 */
export async function startServer(options) {
  const port = options.port ?? (await freePort());
  const token = randomBytes(16).toString("hex");
  writeSettings(options.folder, options.settings);
  const logFile = path.join(options.folder, "server.log");
  const output = fs.openSync(logFile, "a");
  const args = [
    ...["--host", "127.0.0.1", "--port", String(port), "--connection-token", token],
    ...["--accept-server-license-terms", "--disable-workspace-trust", "--telemetry-level", "off"],
    ...folders(options.folder),
  ];
  // Sockets get a folder of their own: the path of one may have 107 characters only.
  const sockets = fs.mkdtempSync(path.join(os.tmpdir(), "fxdap-vscode-"));
  const child = spawn(rig.node, [rig.server, ...args], {
    stdio: ["ignore", output, output],
    env: environment({ XDG_RUNTIME_DIR: sockets, ...options.env }),
    detached: true, // its own process group: stop() ends the extension hosts with it
  });
  const server = new Server(child, port, token, logFile, sockets);
  await server.ready();
  return server;
}

class Server {
  constructor(child, port, token, logFile, sockets) {
    Object.assign(this, { child, port, token, logFile, sockets });
    this.exited = new Promise((resolve) => child.once("exit", resolve));
  }

  async ready() {
    for (const deadline = Date.now() + 60_000; Date.now() < deadline; await sleep(50)) {
      if (this.child.exitCode !== null) {
        break;
      }
      const answer = await fetch(`http://127.0.0.1:${this.port}/version`).catch(() => undefined);
      if (answer?.ok) {
        return;
      }
    }
    await this.stop();
    throw new Error(`the VS Code server did not start:\n${fs.readFileSync(this.logFile, "utf8")}`);
  }

  /** The address that opens a folder, and a file in it. */
  url(folder, file) {
    const payload = [["skipWelcome", "true"]];
    if (file !== undefined) {
      payload.push(["openFile", `vscode-remote://127.0.0.1:${this.port}${pathToFileURL(file).pathname}`]);
    }
    const query = new URLSearchParams({ tkn: this.token, folder, payload: JSON.stringify(payload) });
    return `http://127.0.0.1:${this.port}/?${query}`;
  }

  async stop() {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      process.kill(-this.child.pid, "SIGTERM");
    }
    await this.exited;
    fs.rmSync(this.sockets, { recursive: true, force: true });
  }
}

/** Installs a .vsix as a user's `code --install-extension` does. */
export function installExtension(vsix, folder) {
  execFileSync(rig.node, [rig.server, "--install-extension", vsix, "--force", ...folders(folder)], {
    env: environment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
}

function folders(folder) {
  return [
    ...["--server-data-dir", path.join(folder, "server-data")],
    ...["--user-data-dir", path.join(folder, "user-data")],
    ...["--extensions-dir", path.join(folder, "extensions")],
  ];
}

function environment(extra = {}) {
  const env = { ...process.env, EXTENSIONS_GALLERY: "{}" /* no marketplace */, ...extra };
  delete env.NODE_OPTIONS;
  delete env.CODE_SERVER_PARENT_PID; // or the server waits to be started by code-server
  return env;
}

/** What somebody changed in the editor stays. */
function writeSettings(folder, settings) {
  const file = path.join(folder, "user-data", "User", "settings.json");
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const kept = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : {};
  fs.writeFileSync(file, JSON.stringify({ ...QUIET, ...kept, ...settings }, null, 2));
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = net.createServer().on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
