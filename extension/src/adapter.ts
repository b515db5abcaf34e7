import * as vscode from "vscode";
import { type Listings, showAnew } from "./listings";
import { log } from "./log";
import { forgetProbes } from "./probe";
import { isPythonSide, pythonAdapter } from "./pythonDebug";

interface Resolved extends vscode.DebugConfiguration {
  debugServer?: number;
  logToFile?: boolean | string;
  python: Interpreter | { path: Interpreter };
}

type Interpreter = [string, ...string[]];

/** Starts `python -m fxdap.adapter`, or connects to one that is already listening. */
export class AdapterFactory implements vscode.DebugAdapterDescriptorFactory {
  constructor(private readonly context: vscode.ExtensionContext) {}

  createDebugAdapterDescriptor(session: vscode.DebugSession): vscode.DebugAdapterDescriptor {
    const { configuration } = session;
    const { debugServer, python, logToFile } = configuration as Resolved;
    if (debugServer !== undefined) {
      return new vscode.DebugAdapterServer(debugServer);
    }
    // Not the workspace: its files must not hide the adapter's own imports.
    const options: vscode.DebugAdapterExecutableOptions = { cwd: this.context.extensionPath };
    if (typeof logToFile === "string") {
      options.env = { FXDAP_LOG: logToFile };
    }
    if (isPythonSide(configuration)) {
      return pythonAdapter(configuration, options);
    }
    const [command, ...rest] = Array.isArray(python) ? python : python.path;
    return new vscode.DebugAdapterExecutable(command, [...rest, "-m", "fxdap.adapter"], options);
  }
}

interface LoadedSource {
  event?: string;
  body?: { source?: { path?: string } };
}

/** Remembers whose listings are written, and logs the messages where someone asked for that much. */
export class MessageTracker implements vscode.DebugAdapterTracker {
  constructor(
    private readonly session: vscode.DebugSession,
    private readonly listings: Listings,
  ) {}

  onWillReceiveMessage(message: unknown): void {
    this.trace("->", message);
  }

  onDidSendMessage(message: unknown): void {
    this.trace("<-", message);
    const { event, body } = message as LoadedSource;
    const listing = event === "loadedSource" ? body?.source?.path : undefined;
    if (listing !== undefined) {
      void showAnew(listing);
      if (this.session.configuration.request === "launch") {
        this.listings.remember(listing, this.session.configuration);
      }
    }
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
