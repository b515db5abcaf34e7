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
export function positionItem(): vscode.Disposable {
  const item = vscode.window.createStatusBarItem("fxdap.position", vscode.StatusBarAlignment.Left, 50);
  item.name = "FX Graph Position";
  item.command = "workbench.action.debug.callStackTop";
  let hiding: NodeJS.Timeout | undefined;
  const listener = vscode.debug.onDidChangeActiveStackItem(async (focus) => {
    clearTimeout(hiding);
    hiding = setTimeout(() => {
      item.hide();
    }, HIDE_AFTER_MS);
    const found = await positionOf(focus);
    if (found !== undefined && focus === vscode.debug.activeStackItem) {
      const { graph, node, position, count } = found;
      clearTimeout(hiding);
      item.text = `$(debug-alt) ${graph} ${position}/${count}`;
      item.tooltip = `Stopped at %${node}, node ${position} of ${count} in ${graph}`;
      item.show();
    }
  });
  return vscode.Disposable.from(item, listener);
}

async function positionOf(focus: typeof vscode.debug.activeStackItem): Promise<Position | undefined> {
  if (!(focus instanceof vscode.DebugStackFrame) || focus.session.type !== DEBUG_TYPE) {
    return undefined;
  }
  try {
    return (await focus.session.customRequest("fxdapPosition", { threadId: focus.threadId })) as Position;
  } catch {
    return undefined; // it runs again already; the next stop asks anew
  }
}
