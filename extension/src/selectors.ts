import * as vscode from "vscode";
import type { LanguageServer } from "./languageServer";
import { DEBUG_TYPE } from "./log";
import type { Listings } from "./listings";
import { folderOf } from "./targets";

const EXAMPLES: [string, string][] = [
  ["relu*", "node name or pattern"],
  ["target:aten.add", "every call of an operator or function"],
  ["op:call_module", "opcode"],
  ["module:layers.0", "nodes in a module and below"],
  ["class:Attention", "nodes in a module of that class"],
  ["source:model.py:42", "nodes made by that line"],
  ["/softmax.*-1/", "the node's line in the listing"],
  ["after:relu", "stop after the node instead of before"],
];

interface Choice extends vscode.QuickPickItem {
  /** What choosing it breaks on; without it, `example` is typed for the user. */
  selector?: string;
  example?: string;
}

/** "FX: Break on Selector...": says while typing what a selector matches. */
export function breakOnSelector(server: LanguageServer): void {
  const pick = vscode.window.createQuickPick<Choice>();
  pick.title = "Break on Selector";
  pick.placeholder = "Terms joined by spaces must all hold; ! negates one";
  const refresh = async () => {
    const selector = pick.value.trim();
    const items = selector === "" ? examples() : await matches(selector, server);
    if (pick.value.trim() === selector) {
      pick.items = items;
    }
  };
  pick.onDidChangeValue(refresh);
  pick.onDidAccept(() => {
    const { selector, example } = pick.selectedItems[0] ?? { selector: pick.value.trim() };
    if (selector !== undefined && selector !== "") {
      addFunctionBreakpoint(selector);
      pick.hide();
    } else if (example !== undefined) {
      pick.value = example;
      void refresh();
    }
  });
  pick.onDidHide(() => {
    pick.dispose();
  });
  void refresh();
  pick.show();
}

function examples(): Choice[] {
  return EXAMPLES.map(([example, description]) => ({ label: example, description, example }));
}

/** A debugger's or the language server's answer about a selector. */
interface Matches {
  message: string;
  lines?: string[];
  completions?: string[];
}

async function matches(selector: string, server: LanguageServer): Promise<Choice[]> {
  const choice = { label: `Break on ${selector}`, selector, alwaysShow: true };
  try {
    const answer = await ask(selector, server);
    const { message, lines = [], completions = [] } = answer ?? { message: "matches are counted once a session runs" };
    const nodes = lines.map((line) => ({ label: line, selector: nodeOn(line) ?? selector, alwaysShow: true }));
    const words = completions.map((example) => ({ label: example, example, alwaysShow: true }));
    return [{ ...choice, description: message }, ...words, ...nodes];
  } catch (error) {
    return [{ ...choice, description: String(error) }];
  }
}

/** Without a session, a listing that is shown is asked about. */
async function ask(selector: string, server: LanguageServer): Promise<Matches | undefined> {
  const session = vscode.debug.activeDebugSession;
  if (session?.type === DEBUG_TYPE) {
    return (await session.customRequest("fxdapMatch", { selector })) as Matches;
  }
  const document = vscode.window.activeTextEditor?.document;
  const client = document?.languageId === "fxgraph" ? await server.client() : undefined;
  return client?.sendRequest<Matches>("fxdap/matchSelector", { uri: document?.uri.toString(), selector });
}

export function addFunctionBreakpoint(selector: string): void {
  const { debug } = vscode;
  const has = debug.breakpoints.some((each) => each instanceof vscode.FunctionBreakpoint && each.functionName === selector);
  if (!has) {
    debug.addBreakpoints([new vscode.FunctionBreakpoint(selector)]);
  }
  vscode.window.setStatusBarMessage(`FX: breaks on ${selector}`, 5000);
}

/** The name of the node on a line of a listing. */
export function nodeOn(line: string): string | undefined {
  return /^\s*(?:[\w.]+\/)*%(\w+)/.exec(line)?.[1];
}

/** A selector for all nodes that call what this line calls; an operator without its overload. */
export function selectorOf(line: string): string | undefined {
  const called = /^\s*\S*%[^=]*= (\S+?)\(/.exec(line)?.[1];
  if (called !== undefined) {
    return `target:${called.replace(/^((?:aten|prims)\.\w+)\.\w+$/, "$1")}`;
  }
  const word = /^\s*\S*%[^=]*= (placeholder|get_attr|return)\b/.exec(line)?.[1];
  return word && `op:${word === "return" ? "output" : word}`;
}

/** A menu of the editor gives the document, one of the line numbers also the line. */
interface Place {
  uri?: vscode.Uri;
  lineNumber?: number;
}

function moveTo({ lineNumber }: Place = {}): [vscode.TextEditor, string] | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    return undefined;
  }
  if (lineNumber !== undefined) {
    const start = new vscode.Position(lineNumber - 1, 0);
    editor.selection = new vscode.Selection(start, start);
  }
  return [editor, editor.document.lineAt(editor.selection.active.line).text];
}

/** "Break on Every Such Operator", on a line of a listing. */
export function breakOnEvery(place?: Place): void {
  const selector = selectorOf(moveTo(place)?.[1] ?? "");
  if (selector === undefined) {
    void vscode.window.showInformationMessage("There is no node on this line.");
    return;
  }
  addFunctionBreakpoint(selector);
}

/** "Run to This Node": goes on to it, or starts what the listing belongs to and stops there first. */
export async function runToNode(listings: Listings, place?: Place): Promise<void> {
  const [editor, line] = moveTo(place) ?? [];
  const node = nodeOn(line ?? "");
  if (editor === undefined || node === undefined) {
    void vscode.window.showInformationMessage("There is no node on this line.");
    return;
  }
  if (vscode.debug.activeDebugSession?.type === DEBUG_TYPE) {
    await vscode.commands.executeCommand("editor.debug.action.runToCursor");
    return;
  }
  const { uri } = editor.document;
  const configuration = await listings.configurationFor(uri);
  if (configuration !== undefined) {
    const first = { stopOnEntry: false, nodeBreakpoints: [node] };
    await vscode.debug.startDebugging(folderOf(uri), { ...configuration, ...first });
  }
}
