import * as vscode from "vscode";
import type { LanguageServer } from "./languageServer";
import { DEBUG_TYPE } from "./log";

/** A graph to choose, as the language server finds them in a folder. */
interface Target extends vscode.QuickPickItem {
  configuration: vscode.DebugConfiguration;
  /** Whether it fits what is known of the one that is meant. */
  likely?: boolean;
}

/** What tells which graph is meant: its file, or the name of its listing. */
interface Hint {
  file?: vscode.Uri | undefined;
  listing?: string;
}

/** The folder that a command without a resource means. */
export function folderOf(resource?: vscode.Uri): vscode.WorkspaceFolder | undefined {
  const uri = resource ?? vscode.window.activeTextEditor?.document.uri;
  return (uri && vscode.workspace.getWorkspaceFolder(uri)) ?? vscode.workspace.workspaceFolders?.[0];
}

/** The graphs of the workspace: for Run and Debug, and to choose one. */
export class Targets implements vscode.DebugConfigurationProvider {
  constructor(private readonly server: LanguageServer) {}

  /** "Debug FX Graph..." in Run and Debug. */
  async provideDebugConfigurations(folder = folderOf()): Promise<vscode.DebugConfiguration[]> {
    return folder === undefined ? [] : (await this.find(folder)).map(({ configuration }) => configuration);
  }

  /** Asks which graph is meant, unless `sure` that it is the only likely one. */
  async choose(
    folder: vscode.WorkspaceFolder,
    hint: Hint,
    sure = false,
  ): Promise<vscode.DebugConfiguration | undefined> {
    const found = await this.find(folder, hint);
    const likely = found.filter((target) => target.likely);
    if (sure && likely.length === 1) {
      return likely[0]?.configuration;
    }
    const named = launchConfigurations(folder).filter(({ graph }) => typeof graph === "string");
    const choices: Target[] = [
      ...found,
      ...named.map((configuration) => ({ label: configuration.name, description: "launch.json", configuration })),
    ];
    if (choices.length === 0) {
      const what = 'a module class or a function beside "example_inputs" in its file, or a .pt2 file';
      throw new Error(`No graphs were found in ${folder.name}: ${what}.`);
    }
    const unknown = hint.listing && ` to debug: nothing tells yet where ${hint.listing} is from`;
    const options = { title: `Choose a graph${unknown ?? ""}`, matchOnDescription: true };
    return (await vscode.window.showQuickPick(choices, options))?.configuration;
  }

  private async find(folder: vscode.WorkspaceFolder, { file, listing }: Hint = {}): Promise<Target[]> {
    const parameters = { uri: folder.uri.toString(), file: file?.toString(), listing };
    return (await this.server.request<Target[]>("fxdap/targets", parameters, folder)) ?? [];
  }
}

/** A launch of a program or graph. */
export function launchOf(
  name: string,
  what: { program: string } | { graph: string },
): vscode.DebugConfiguration {
  return { type: DEBUG_TYPE, request: "launch", name: `Debug FX Graph: ${name}`, ...what };
}

export function launchConfigurations(folder: vscode.WorkspaceFolder | undefined): vscode.DebugConfiguration[] {
  const launch = vscode.workspace.getConfiguration("launch", folder);
  const all = launch.get<vscode.DebugConfiguration[]>("configurations", []);
  return all.filter(({ type, request }) => type === DEBUG_TYPE && request === "launch");
}
