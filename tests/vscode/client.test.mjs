// The adapter driven by the official DAP test client, over stdio and over a port.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { checkout, rig } from "./rig/install.mjs";

const { DebugClient } = rig.require("@vscode/debugadapter-testsupport");
const PYTHON = process.env.FXDAP_PYTHON ?? path.join(checkout, ".venv", "bin", "python");
const FXDAP = path.join(path.dirname(PYTHON), "fxdap");
const LOAD_MS = 60_000; // importing torch and capturing, on a busy machine

let workspace;
before(() => {
  execFileSync(PYTHON, ["-c", "import fxdap"]); // the client waits for ever for what did not start
  workspace = fs.mkdtempSync(path.join(os.tmpdir(), "fxdap-client-"));
  fs.copyFileSync(path.join(checkout, "sample_models", "mlp.py"), path.join(workspace, "mlp.py"));
});
after(() => fs.rmSync(workspace, { recursive: true, force: true }));

/** Written by the first launch; later ones find it, as a user's breakpoints do. */
const listing = () => path.join(workspace, ".fxdap", "graphs", "MLP.fxgraph");
const lineOf = (node) =>
  fs.readFileSync(listing(), "utf8").split("\n").findIndex((line) => line.startsWith(`  %${node} =`)) + 1;

describe("over stdio", () => {
  suite(() => undefined);
});

describe("over a port", () => {
  let server;
  let port;
  before(async () => {
    server = spawn(PYTHON, ["-m", "fxdap.adapter", "--port", "0"], { stdio: ["ignore", "ignore", "pipe"] });
    const [said] = await once(server.stderr, "data");
    port = Number(/:(\d+)/.exec(said)[1]);
  });
  after(async () => {
    server.kill();
    await once(server, "exit");
  });
  suite(() => port);
});

function suite(port) {
  let client;
  beforeEach(async () => {
    client = new DebugClient(FXDAP, "adapter", "fxdap");
    client.defaultTimeout = LOAD_MS;
    await client.start(port());
  });
  afterEach(() => client.stop(), { timeout: LOAD_MS }); // disconnects

  const launchArguments = (more) => ({
    graph: path.join(workspace, "mlp.py:MLP"),
    capture: "symbolic_trace",
    workspace,
    ...more,
  });

  async function evaluate(expression) {
    const { body } = await client.evaluateRequest({ expression, frameId: await topFrame(), context: "watch" });
    return body.result;
  }

  async function topFrame() {
    const { body } = await client.stackTraceRequest({ threadId: 1, startFrame: 0, levels: 1 });
    return body.stackFrames[0].id;
  }

  test("initialize answers with capabilities", async () => {
    const { body } = await client.initializeRequest();
    assert.equal(body.supportsConfigurationDoneRequest, true);
    assert.equal(body.supportsFunctionBreakpoints, true);
  });

  test("stop on entry, step, look at values, hit a breakpoint, run to the end", async () => {
    await Promise.all([
      client.launch(launchArguments()),
      client.configurationSequence(),
      client.assertStoppedLocation("entry", { path: /MLP\.fxgraph$/, line: 2 }),
    ]);
    for (const node of ["fc1", "relu"]) {
      await Promise.all([
        client.nextRequest({ threadId: 1 }),
        client.assertStoppedLocation("step", { path: listing(), line: lineOf(node) }),
      ]);
    }
    assert.match(await evaluate("fc1"), /^f32\[2, 16\] cpu/);
    assert.equal(await evaluate("tuple(fc1.shape)"), "(2, 16)");
    const { body } = await client.scopesRequest({ frameId: await topFrame() });
    assert.deepEqual(body.scopes.map(({ name }) => name).slice(0, 3), ["Node", "Returned", "Env"]);
    const env = await client.variablesRequest({ variablesReference: body.scopes[2].variablesReference });
    assert.ok(env.body.variables.some(({ name }) => name === "fc1"));

    const breakpoints = [{ line: lineOf("add") }];
    await client.setBreakpointsRequest({ source: { path: listing() }, breakpoints });
    await Promise.all([
      client.continueRequest({ threadId: 1 }),
      client.assertStoppedLocation("breakpoint", { path: listing(), line: lineOf("add") }),
    ]);
    await Promise.all([client.continueRequest({ threadId: 1 }), client.waitForEvent("terminated")]);
  });

  test("hit a breakpoint on a line of the model, terminate", async () => {
    const location = { path: path.join(workspace, "mlp.py"), line: 17 };
    const stop = { path: listing(), line: lineOf("fc2") };
    await client.hitBreakpoint(launchArguments({ stopOnEntry: false }), location, stop);
    await Promise.all([client.terminateRequest(), client.waitForEvent("terminated")]);
  });
}
