import * as vscode from "vscode";

const LIMIT_MS = 2000; // none is told of breakpoints while all of them are switched off

/** The graph sessions that run now, whichever VS Code has in focus. */
export const graphSessions = new Set<vscode.DebugSession>();

/** Fires when a session has taken its function breakpoints. VS Code tells of those on lines only. */
export const breakpointsTaken = new vscode.EventEmitter<vscode.DebugSession>();

/** Resolves when every session that runs has taken function breakpoints once more. */
export async function allHaveTaken(): Promise<void> {
  const waiting = new Set(graphSessions);
  if (waiting.size === 0) {
    return;
  }
  await new Promise<void>((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      listener.dispose();
      resolve();
    };
    const timer = setTimeout(finish, LIMIT_MS);
    const listener = breakpointsTaken.event((session) => {
      waiting.delete(session);
      if (waiting.size === 0) {
        finish();
      }
    });
  });
}
