import * as vscode from "vscode";

export const DEBUG_TYPE = "fxdap";
/** The suffix of listings, and their language's id without the dot. */
export const LISTING = ".fxgraph";

/** The "FX Graph" output channel; at level Trace it also shows every protocol message. */
export const log = vscode.window.createOutputChannel("FX Graph", { log: true });
