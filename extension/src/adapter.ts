import * as vscode from "vscode";
import { type Listings, showAnew } from "./listings";
import { log } from "./log";
import { isPythonSide, pythonAdapter } from "./pythonDebug";
import { breakpointsTaken, graphSessions } from "./sessions";

/** Starts `python -m fxdap.adapter`, for a configuration that was completed. */
export function adapterOf(configuration: vscode.DebugConfiguration, cwd: string): vscode.DebugAdapterDescriptor {
  if (isPythonSide(configuration)) {
    return pythonAdapter(configuration, cwd);
  }
  const { path } = configuration.python as { path: [string, ...string[]] };
  const [command, ...options] = path;
  return new vscode.DebugAdapterExecutable(command, [...options, "-m", "fxdap.adapter"], { cwd });
}

/** What is looked at of an event or a response. */
interface Told {
  event: string;
  command: string;
  body: { source?: { path?: string } };
}

/** Remembers whose listings are written, and logs the messages where someone asked for that much. */
export function trackerOf(session: vscode.DebugSession, listings: Listings): vscode.DebugAdapterTracker {
  const { name, configuration } = session;
  const trace = (arrow: string, message: unknown) => {
    if (log.logLevel === vscode.LogLevel.Trace) {
      log.trace(`${name} ${arrow} ${JSON.stringify(message)}`);
    }
  };
  return {
    onWillStartSession: () => {
      if (!isPythonSide(configuration)) {
        graphSessions.add(session);
      }
    },
    onWillStopSession: () => {
      graphSessions.delete(session);
    },
    onWillReceiveMessage: (message) => {
      trace("->", message);
    },
    onDidSendMessage: (message) => {
      trace("<-", message);
      const { event, body, command } = message as Partial<Told>;
      if (command === "setFunctionBreakpoints") {
        breakpointsTaken.fire(session);
      }
      const listing = event === "loadedSource" ? body?.source?.path : undefined;
      if (listing !== undefined) {
        void showAnew(listing);
        if (configuration.request === "launch") {
          listings.remember(listing, configuration);
        }
      }
    },
    onError: (error) => {
      log.error(`${name}: ${error.message}`);
    },
    onExit: (code, signal) => {
      graphSessions.delete(session);
      log.info(`${name}: the adapter ended (${signal ?? `exit code ${code ?? "unknown"}`})`);
    },
  };
}
