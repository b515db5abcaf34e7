import * as vscode from "vscode";
import { DEBUG_TYPE } from "./log";

interface Script {
  content: string;
  fileName: string;
}

/** Opens the node where a thread is stopped as a Python file that runs without fxdap. */
export async function saveNode(): Promise<void> {
  const item = vscode.debug.activeStackItem;
  if (item?.session.type !== DEBUG_TYPE) {
    await vscode.window.showInformationMessage("Stop a graph first: the node it is stopped at becomes the script.");
    return;
  }
  try {
    const answer: unknown = await item.session.customRequest("fxdapRepro", { threadId: item.threadId });
    const { content } = answer as Script;
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content, language: "python" }));
  } catch (error) {
    await vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
  }
}
