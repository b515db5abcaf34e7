import * as path from "node:path";
import * as vscode from "vscode";
import { DEBUG_TYPE, messageOf } from "./log";

/** The Python side of a graph session, which VS Code starts when the program asks for it. */
export interface PythonSide extends vscode.DebugConfiguration {
  debugpy: Endpoint;
  python: [string, ...string[]];
}

export function isPythonSide(configuration: Partial<vscode.DebugConfiguration>): configuration is PythonSide {
  return configuration.debugpy !== undefined;
}

/** Reaches debugpy in the program that a graph session debugs. */
export function pythonAdapter({ debugpy, python }: PythonSide, cwd: string): vscode.DebugAdapterDescriptor {
  const [command, ...options] = python;
  const door = [...options, "-m", "fxdap.adapter.python", `${debugpy.host}:${debugpy.port}`];
  return new vscode.DebugAdapterExecutable(command, door, { cwd, env: { FXDAP_TOKEN: debugpy.token } });
}

const ATTACHED_MS = 10_000;

/** Where a process listens for a graph session, as `fxdap.listen` gives it. */
interface Endpoint {
  host: string;
  port: number;
  token: string;
}

/** A Python program under any debugger called `fxdap.breakpoint()`: give it its graph session. */
export function attachWhenAsked(): vscode.Disposable {
  return vscode.debug.onDidReceiveDebugSessionCustomEvent(({ session, event, body }) => {
    if (event === "fxdapListening") {
      void attachTo(session, body as Endpoint);
    }
  });
}

/** Opens a graph session for the process that the active Python session debugs. */
export async function attachGraphs(): Promise<void> {
  const session = vscode.debug.activeDebugSession;
  if (session === undefined || session.type === DEBUG_TYPE) {
    throw new Error("Start a Python debug session first; its graphs are then debugged too.");
  }
  const expression = "__import__('json').dumps(__import__('fxdap').listen()._asdict())";
  try {
    const answer: unknown = await session.customRequest("evaluate", { expression, context: "clipboard" });
    const { result } = answer as { result: string };
    await attachTo(session, JSON.parse(result.replace(/^'|'$/g, "")) as Endpoint);
  } catch (error) {
    throw new Error(`The program of this session does not open for graphs: ${messageOf(error)}`, { cause: error });
  }
}

async function attachTo(session: vscode.DebugSession, { host, port, token }: Endpoint): Promise<void> {
  const configuration = { type: DEBUG_TYPE, request: "attach", name: `FX Graph: ${path.basename(session.name)}` };
  const attach = { ...configuration, connect: { host, port }, token };
  if (await vscode.debug.startDebugging(session.workspaceFolder, attach)) {
    // Only from here on does the program stop in graphs; its session is shown before.
    vscode.window.setStatusBarMessage(`$(debug-alt) Graphs of ${session.name} are debugged`, ATTACHED_MS);
  }
}
