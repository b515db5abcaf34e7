import * as vscode from "vscode";
import { log } from "./log";
import { forgetProbes } from "./probe";

interface Resolved extends vscode.DebugConfiguration {
  debugServer?: number;
  logToFile?: boolean | string;
  python: [string, ...string[]];
}

/** Starts `python -m fxdap.adapter`, or connects to one that is already listening. */
export class AdapterFactory implements vscode.DebugAdapterDescriptorFactory {
  constructor(private readonly context: vscode.ExtensionContext) {}

  createDebugAdapterDescriptor(session: vscode.DebugSession): vscode.DebugAdapterDescriptor {
    const { debugServer, python, logToFile } = session.configuration as Resolved;
    if (debugServer !== undefined) {
      return new vscode.DebugAdapterServer(debugServer);
    }
    // Not the workspace: its files must not hide the adapter's own imports.
    const options: vscode.DebugAdapterExecutableOptions = { cwd: this.context.extensionPath };
    if (typeof logToFile === "string") {
      options.env = { FXDAP_LOG: logToFile };
    }
    const [command, ...rest] = python;
    return new vscode.DebugAdapterExecutable(command, [...rest, "-m", "fxdap.adapter"], options);
  }
}

/** Writes the session's messages to the log, where someone asked for that much. */
export class MessageTracker implements vscode.DebugAdapterTracker {
  constructor(private readonly session: vscode.DebugSession) {}

  onWillReceiveMessage(message: unknown): void {
    this.trace("->", message);
  }

  onDidSendMessage(message: unknown): void {
    this.trace("<-", message);
  }

  onError(error: Error): void {
    log.error(`${this.session.name}: ${error.message}`);
    forgetProbes();
  }

  onExit(code: number | undefined, signal: string | undefined): void {
    log.info(`${this.session.name}: the adapter ended (${signal ?? `exit code ${code ?? "unknown"}`})`);
    if (code !== 0) {
      forgetProbes();
    }
  }

  private trace(arrow: string, message: unknown): void {
    if (log.logLevel === vscode.LogLevel.Trace) {
      log.trace(`${this.session.name} ${arrow} ${JSON.stringify(message)}`);
    }
  }
}
