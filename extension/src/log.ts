import * as vscode from "vscode";

export const DEBUG_TYPE = "fxdap";

/** The "FX Graph" output channel; at level Trace it also shows every protocol message. */
export const log = vscode.window.createOutputChannel("FX Graph", { log: true });

/** Shows what went wrong, in the log too, with buttons that do something about it. */
export async function complain(text: string, remedies: Record<string, () => unknown> = {}): Promise<void> {
  log.error(text);
  const buttons: Record<string, () => unknown> = { ...remedies, "Show Log": () => { log.show(); } };
  const answer = await vscode.window.showErrorMessage(text, ...Object.keys(buttons));
  await buttons[answer ?? ""]?.();
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
