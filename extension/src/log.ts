import * as vscode from "vscode";

/** The "FX Graph" output channel; at level Trace it also shows every protocol message. */
export const log = vscode.window.createOutputChannel("FX Graph", { log: true });
