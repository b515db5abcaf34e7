import * as vscode from "vscode";

/** `%name`, in a nested graph `sub/%name`. */
const NODE = /(?:[\w.]+\/)*%([A-Za-z_]\w*)/;

/** Hovering over `%name` asks the debugger for `name`. */
export class NodeExpressionProvider implements vscode.EvaluatableExpressionProvider {
  provideEvaluatableExpression(
    document: vscode.TextDocument,
    position: vscode.Position,
  ): vscode.EvaluatableExpression | undefined {
    const range = document.getWordRangeAtPosition(position, NODE);
    if (range === undefined) {
      return undefined;
    }
    return new vscode.EvaluatableExpression(range, NODE.exec(document.getText(range))?.[1]);
  }
}
