import * as vscode from "vscode";

/** `%name`, in a nested graph `sub/%name`. */
const NODE = /(?:[\w.]+\/)*%([A-Za-z_]\w*)/;
const DEFINITION = new RegExp(`^(\\s*)(${NODE.source})(?=\\s*[:=])`);

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

/** While stopped, the value of each node above the stop at the end of its line. */
export class NodeValuesProvider implements vscode.InlineValuesProvider {
  provideInlineValues(
    document: vscode.TextDocument,
    viewPort: vscode.Range,
    context: vscode.InlineValueContext,
  ): vscode.InlineValue[] {
    const last = Math.min(viewPort.end.line, context.stoppedLocation.start.line - 1);
    const values: vscode.InlineValue[] = [];
    for (let line = viewPort.start.line; line <= last; line++) {
      const match = DEFINITION.exec(document.lineAt(line).text);
      if (match !== null) {
        const [, indent = "", written = "", name] = match;
        const range = new vscode.Range(line, indent.length, line, indent.length + written.length);
        values.push(new vscode.InlineValueEvaluatableExpression(range, name));
      }
    }
    return values;
  }
}
