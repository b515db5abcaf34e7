import * as vscode from "vscode";
import type { LanguageServer } from "./languageServer";
import type { Listings } from "./listings";
import { DEBUG_TYPE } from "./log";
import { allHaveTaken } from "./sessions";
import { folderOf } from "./targets";

/** As Python makes them: one breaks on `selector`, or has `example` typed for the user. */
interface Choice extends vscode.QuickPickItem {
  selector?: string;
  example?: string;
}

/** "FX: Break on Selector...": says while typing what a selector matches. */
export function breakOnSelector(server: LanguageServer): void {
  const pick = vscode.window.createQuickPick<Choice>();
  pick.title = "Break on Selector";
  pick.placeholder = "Terms joined by spaces must all hold; ! negates one";
  const refresh = async () => {
    const selector = pick.value;
    const choices = await choicesFor(selector, server);
    if (pick.value === selector) {
      pick.items = choices.map((choice) => ({ ...choice, alwaysShow: true }));
    }
  };
  pick.onDidChangeValue(refresh);
  pick.onDidAccept(() => {
    const { selector, example } = pick.selectedItems[0] ?? { selector: pick.value.trim() };
    if (selector) {
      void addFunctionBreakpoint(selector);
      pick.hide();
    } else if (example) {
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

/** The session tells; without one, the language server about the listing that is shown. */
async function choicesFor(selector: string, server: LanguageServer): Promise<Choice[]> {
  const session = vscode.debug.activeDebugSession;
  if (session?.type === DEBUG_TYPE) {
    return ((await session.customRequest("fxdapMatch", { selector })) as { choices: Choice[] }).choices;
  }
  const document = vscode.window.activeTextEditor?.document;
  const uri = document?.languageId === "fxgraph" ? document.uri.toString() : undefined;
  const client = await server.client();
  return (await client?.sendRequest<Choice[]>("fxdap/matchSelector", { uri, selector })) ?? [];
}

export async function addFunctionBreakpoint(selector: string): Promise<void> {
  const { debug } = vscode;
  const there = debug.breakpoints.filter((each) => each instanceof vscode.FunctionBreakpoint);
  if (!there.some(({ functionName }) => functionName === selector)) {
    const taken = allHaveTaken();
    debug.addBreakpoints([new vscode.FunctionBreakpoint(selector)]);
    await taken;
  }
  vscode.window.setStatusBarMessage(`FX: breaks on ${selector}`, 5000);
}

/** A lens and the menu of a line's number give the line, counted from 1; other menus mean the cursor's. */
export interface Place {
  lineNumber?: number;
}

/** "Break on Every Such Operator", on a line of a listing. */
export async function breakOnEvery(server: LanguageServer, place: Place = {}): Promise<void> {
  const { selector } = await nodeAt(cursorAt(place), server);
  await addFunctionBreakpoint(selector);
}

/** "Run to This Node": goes on to it, or starts what the listing belongs to and stops there first. */
export async function runToNode(server: LanguageServer, listings: Listings, place: Place = {}): Promise<void> {
  const editor = cursorAt(place);
  if (vscode.debug.activeDebugSession?.type === DEBUG_TYPE) {
    await vscode.commands.executeCommand("editor.debug.action.runToCursor");
    return;
  }
  const { uri } = editor.document;
  const { node } = await nodeAt(editor, server);
  const configuration = await listings.configurationFor(uri);
  if (configuration !== undefined) {
    const first = { stopOnEntry: false, nodeBreakpoints: [node] };
    await vscode.debug.startDebugging(folderOf(uri), { ...configuration, ...first });
  }
}

function cursorAt({ lineNumber }: Place): vscode.TextEditor {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    throw new Error("Open a graph listing first.");
  }
  if (lineNumber !== undefined) {
    const start = new vscode.Position(lineNumber - 1, 0);
    editor.selection = new vscode.Selection(start, start);
  }
  return editor;
}

interface FoundNode {
  node: string;
  /** For all nodes that call what it calls. */
  selector: string;
}

/** The node on the cursor's line. */
async function nodeAt({ document, selection }: vscode.TextEditor, server: LanguageServer): Promise<FoundNode> {
  const parameters = { uri: document.uri.toString(), line: selection.active.line };
  const found = await server.request<FoundNode | null>("fxdap/nodeAt", parameters, folderOf(document.uri));
  if (!found) {
    throw new Error("There is no node on this line.");
  }
  return found;
}
