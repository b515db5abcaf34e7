import * as path from "node:path";
import * as vscode from "vscode";
import { fxdap } from "./command";
import { DEBUG_TYPE } from "./log";

/** One line of `fxdap targets --json`; `graph` is relative to the folder. */
interface Target {
  graph: string;
  name: string;
  kind: string;
}

interface Choice extends vscode.QuickPickItem {
  configuration: vscode.DebugConfiguration;
}

/** The folder that a command without a resource means. */
export function folderOf(resource?: vscode.Uri): vscode.WorkspaceFolder | undefined {
  const uri = resource ?? vscode.window.activeTextEditor?.document.uri;
  return (uri && vscode.workspace.getWorkspaceFolder(uri)) ?? vscode.workspace.workspaceFolders?.[0];
}

/** "Debug FX Graph..." in Run and Debug: every graph found in the workspace. */
export class TargetConfigurations implements vscode.DebugConfigurationProvider {
  async provideDebugConfigurations(folder?: vscode.WorkspaceFolder): Promise<vscode.DebugConfiguration[]> {
    const place = folder ?? folderOf();
    return place === undefined ? [] : (await targetsIn(place)).map(configurationOf);
  }
}

export function configurationOf({ graph }: Pick<Target, "graph">): vscode.DebugConfiguration {
  const name = `Debug FX Graph: ${graph}`;
  return { type: DEBUG_TYPE, request: "launch", name, graph: `\${workspaceFolder}/${graph}` };
}

/**
 * Asks which graph is meant. Those of `file` come first, or those named like `listing`; with `only`,
 * a single one in the file needs no question.
 */
export async function chooseTarget(
  folder: vscode.WorkspaceFolder,
  { file, listing, only = false }: { file?: vscode.Uri | undefined; listing?: string; only?: boolean },
): Promise<vscode.DebugConfiguration | undefined> {
  const place = file && path.relative(folder.uri.fsPath, file.fsPath).split(path.sep).join("/");
  const isFirst = ({ graph, name }: Target) => graph.split(":")[0] === place || name === listing;
  const found = await targetsIn(folder);
  const first = found.filter(isFirst);
  if (only && first[0] !== undefined && first.length === 1) {
    return configurationOf(first[0]);
  }
  const choices: Choice[] = [...first, ...found.filter((target) => !isFirst(target))].map((target) => ({
    label: target.graph,
    description: target.kind,
    configuration: configurationOf(target),
  }));
  for (const configuration of launchConfigurations(folder)) {
    if (typeof configuration.graph === "string") {
      choices.push({ label: configuration.name, description: "launch.json", configuration });
    }
  }
  if (choices.length === 0) {
    void vscode.window.showInformationMessage(
      `No graphs were found in ${folder.name}: a module class or a function beside "example_inputs" in its file, or a .pt2 file.`,
    );
    return undefined;
  }
  const title = listing === undefined ? "Choose a graph" : `Choose the graph to debug: nothing tells yet where ${listing} is from`;
  return (await vscode.window.showQuickPick(choices, { title, matchOnDescription: true }))?.configuration;
}

export function launchConfigurations(folder: vscode.WorkspaceFolder | undefined): vscode.DebugConfiguration[] {
  const all = vscode.workspace.getConfiguration("launch", folder).get<vscode.DebugConfiguration[]>("configurations", []);
  return all.filter(({ type, request }) => type === DEBUG_TYPE && request === "launch");
}

async function targetsIn(folder: vscode.WorkspaceFolder): Promise<Target[]> {
  return ((await fxdap(folder, ["targets", ".", "--json"], { needsTorch: false })) ?? []) as Target[];
}
