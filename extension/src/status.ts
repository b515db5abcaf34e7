import * as vscode from "vscode";
import { DEBUG_TYPE } from "./log";

const HIDE_AFTER_MS = 400; // a step is over before that, so that nothing flickers

interface Position {
  graph: string;
  node: string;
  position: number;
  count: number;
}

/** "gpt 132/480" in the status bar while a thread is stopped in a graph. */
export class PositionItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("fxdap.position", vscode.StatusBarAlignment.Left, 50);
  private readonly listener = vscode.debug.onDidChangeActiveStackItem((item) => void this.show(item));
  private hiding: NodeJS.Timeout | undefined;

  constructor() {
    this.item.name = "FX Graph Position";
    this.item.command = "workbench.action.debug.callStackTop";
  }

  dispose(): void {
    clearTimeout(this.hiding);
    this.listener.dispose();
    this.item.dispose();
  }

  private async show(item: vscode.DebugThread | vscode.DebugStackFrame | undefined): Promise<void> {
    clearTimeout(this.hiding);
    this.hiding = setTimeout(() => {
      this.item.hide();
    }, HIDE_AFTER_MS);
    if (!(item instanceof vscode.DebugStackFrame) || item.session.type !== DEBUG_TYPE) {
      return;
    }
    try {
      const answer: unknown = await item.session.customRequest("fxdapPosition", { threadId: item.threadId });
      if (item !== vscode.debug.activeStackItem) {
        return;
      }
      const { graph, node, position, count } = answer as Position;
      clearTimeout(this.hiding);
      this.item.text = `$(debug-alt) ${graph} ${position}/${count}`;
      this.item.tooltip = `Stopped at %${node}, node ${position} of ${count} in ${graph}`;
      this.item.show();
    } catch {
      // It runs again already; the next stop asks anew.
    }
  }
}
