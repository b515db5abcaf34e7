import * as path from "node:path";
import * as vscode from "vscode";
import { DEBUG_TYPE } from "./log";

/** The debug type of the Python side of a graph session; nobody writes it into a launch.json. */
export const PYTHON_TYPE = "fxdap-python";

interface Door extends vscode.DebugConfiguration {
  connect: { host: string; port: number };
  token: string;
  python: [string, ...string[]];
}

/** Where a process listens for a graph session, as `fxdap.listen` gives it. */
interface Endpoint {
  host: string;
  port: number;
  token: string;
}

/** Attaches the Python session that a graph session asks for to debugpy in its program. */
export class PythonAdapterFactory implements vscode.DebugAdapterDescriptorFactory {
  constructor(private readonly context: vscode.ExtensionContext) {}

  createDebugAdapterDescriptor(session: vscode.DebugSession): vscode.DebugAdapterDescriptor {
    const { connect, token, python } = session.configuration as Door;
    const [command, ...rest] = python;
    const door = [...rest, "-m", "fxdap.adapter.python", `${connect.host}:${connect.port}`];
    return new vscode.DebugAdapterExecutable(command, door, {
      cwd: this.context.extensionPath,
      env: { FXDAP_TOKEN: token },
    });
  }
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
    void vscode.window.showInformationMessage("Start a Python debug session first; its graphs are then debugged too.");
    return;
  }
  const expression = "__import__('json').dumps(__import__('fxdap').listen()._asdict())";
  try {
    const answer = (await session.customRequest("evaluate", { expression, context: "clipboard" })) as { result: string };
    await attachTo(session, JSON.parse(answer.result.replace(/^'|'$/g, "")) as Endpoint);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    void vscode.window.showErrorMessage(`The program of this session does not open for graphs: ${reason}`);
  }
}

async function attachTo(session: vscode.DebugSession, { host, port, token }: Endpoint): Promise<void> {
  const configuration = { type: DEBUG_TYPE, request: "attach", name: `FX Graph: ${path.basename(session.name)}` };
  await vscode.debug.startDebugging(session.workspaceFolder, { ...configuration, connect: { host, port }, token });
}
