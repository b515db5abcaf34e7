// What the extension makes of configurations, asked through the vscode API.
const assert = require("node:assert/strict");
const { spawn } = require("node:child_process");
const { once } = require("node:events");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const vscode = require("vscode");

const folder = vscode.workspace.workspaceFolders[0];
const root = folder.uri.fsPath;
const GRAPH = {
  type: "fxdap",
  request: "launch",
  name: "graph",
  graph: `${root}/mlp.py:MLP`,
  capture: "symbolic_trace",
};

const requests = [];
vscode.debug.registerDebugAdapterTrackerFactory("fxdap", {
  createDebugAdapterTracker: (session) => ({
    onWillReceiveMessage({ command, arguments: sent }) {
      if (command === "launch" || command === "attach") {
        requests.splice(0).forEach((resolve) => resolve({ sent, session }));
      }
    },
  }),
});

/** Starts debugging and gives the arguments that the adapter was sent; ends a launched session. */
async function resolved(configuration) {
  const request = new Promise((resolve) => requests.push(resolve));
  const started = vscode.debug.startDebugging(folder, configuration);
  const { sent, session } = await request;
  if (sent.request === "launch") {
    await started;
    await ended(session);
  }
  return sent;
}

async function ended(session) {
  const end = new Promise((resolve) => {
    const listener = vscode.debug.onDidTerminateDebugSession((each) => {
      if (each.id === session.id) {
        listener.dispose();
        resolve();
      }
    });
  });
  await vscode.debug.stopDebugging(session);
  await end;
}

async function set(value) {
  await vscode.workspace.getConfiguration("fxdap").update("interpreter", value, vscode.ConfigurationTarget.Workspace);
}

// Each session costs seconds, so that each test asks several things of one.
exports.tests = {
  "the extension is there and is not active before it is needed": () => {
    assert.equal(vscode.extensions.getExtension("fxdap.fxdap").isActive, false);
  },

  "a launch gets the folder, and the Python extension's interpreter rather than .venv": async () => {
    const { workspace, cwd, python, logToFile } = await resolved(GRAPH);
    assert.deepEqual({ workspace, cwd }, { workspace: root, cwd: root });
    assert.deepEqual(python, { path: [process.env.FXDAP_SELECTED_PYTHON] });
    assert.equal(logToFile, false);
  },

  "the setting comes before the Python extension; logToFile becomes the log folder": async () => {
    await set("${workspaceFolder}/.venv/bin/python");
    const { python, logToFile } = await resolved({ ...GRAPH, logToFile: true });
    await set(undefined);
    assert.deepEqual(python, { path: [path.join(root, ".venv/bin/python")] });
    assert.match(logToFile, /fxdap\.fxdap$/);
    assert.equal(fs.readdirSync(logToFile).filter((name) => name.startsWith("adapter-")).length, 1);
  },

  "what a configuration says comes first": async () => {
    await set("nonsense");
    const given = { path: ["./.venv/bin/python", "-X", "dev"], justMyCode: false };
    const own = { cwd: "/", workspace: os.tmpdir(), python: given };
    const { workspace, cwd, python } = await resolved({ ...GRAPH, ...own });
    await set(undefined);
    assert.deepEqual({ workspace, cwd }, { workspace: own.workspace, cwd: "/" });
    assert.deepEqual(python, { ...given, path: [path.join(root, ".venv/bin/python"), "-X", "dev"] });
  },

  "debugServer names an adapter that runs already, whatever the interpreter": async () => {
    const adapter = spawn(process.env.FXDAP_SELECTED_PYTHON, ["-m", "fxdap.adapter", "--port", "0"]);
    try {
      const [said] = await once(adapter.stderr, "data");
      await set("nonsense");
      const { python } = await resolved({ ...GRAPH, debugServer: Number(/:(\d+)/.exec(said)[1]) });
      await set(undefined);
      assert.equal(python, undefined);
    } finally {
      adapter.kill();
    }
  },

  "an attach configuration gets no key of a launch": async () => {
    const attach = { type: "fxdap", request: "attach", name: "attach", connect: { port: 1 } };
    const { workspace, cwd } = await resolved(attach);
    assert.deepEqual({ workspace, cwd }, { workspace: root, cwd: undefined });
  },

  "F5 in a listing starts what wrote it": async () => {
    await vscode.window.showTextDocument(vscode.Uri.file(`${root}/.fxdap/graphs/MLP.fxgraph`));
    const { graph, capture, name } = await resolved({ type: "fxdap", name: "" });
    assert.deepEqual({ graph, capture }, { graph: GRAPH.graph, capture: GRAPH.capture }, name);
  },

  "every command that package.json names is there": async () => {
    const { commands } = vscode.extensions.getExtension("fxdap.fxdap").packageJSON.contributes;
    const all = await vscode.commands.getCommands(true);
    assert.deepEqual(commands.map(({ command }) => command).filter((name) => !all.includes(name)), []);
  },

  "Break on Every Such Operator makes a selector of the line of a listing": async () => {
    const uri = vscode.Uri.file(`${root}/.fxdap/graphs/MLP.fxgraph`);
    const { document } = await vscode.window.showTextDocument(uri);
    const lines = document.getText().split("\n");
    for (const node of ["%x ", "%fc1 ", "%relu "]) {
      const lineNumber = 1 + lines.findIndex((line) => line.trim().startsWith(node));
      await vscode.commands.executeCommand("fxdap.breakOnEvery", { uri, lineNumber });
    }
    const selectors = vscode.debug.breakpoints.map(({ functionName }) => functionName);
    assert.deepEqual(selectors, ["op:placeholder", "target:fc1", "target:torch.relu"]);
  },
};
