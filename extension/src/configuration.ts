import * as os from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { chooseInterpreter } from "./interpreter";
import { complain, usable } from "./probe";

export const DEBUG_TYPE = "fxdap";

/** What F5 does without a launch.json, and what the ▷ menu does. */
export function configurationFor(program: string): vscode.DebugConfiguration {
  return { type: DEBUG_TYPE, request: "launch", name: "Debug FX Graph", program };
}

/** Completes a launch configuration with what only the editor knows; Python checks the rest. */
export class ConfigurationProvider implements vscode.DebugConfigurationProvider {
  constructor(private readonly context: vscode.ExtensionContext) {}

  resolveDebugConfiguration(
    _folder: vscode.WorkspaceFolder | undefined,
    configuration: Partial<vscode.DebugConfiguration>,
  ): vscode.DebugConfiguration | undefined {
    if (isComplete(configuration)) {
      return configuration;
    }
    const document = vscode.window.activeTextEditor?.document;
    if (document?.languageId === "python") {
      return { ...configurationFor("${file}"), ...configuration };
    }
    void explainWhatToOpen(document);
    return undefined;
  }

  async resolveDebugConfigurationWithSubstitutedVariables(
    folder: vscode.WorkspaceFolder | undefined,
    configuration: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    const complete: vscode.DebugConfiguration = { ...this.defaults(folder, configuration), ...configuration };
    if (complete.logToFile === true) {
      complete.logToFile = this.context.logUri.fsPath;
    }
    if (complete.debugServer !== undefined) {
      return complete;
    }
    const interpreter = await chooseInterpreter(configuration.python, folder);
    if (interpreter === undefined) {
      void complain("No Python interpreter was found.");
      return undefined;
    }
    complete.python = [interpreter.path, ...interpreter.options];
    const launches = configuration.request === "launch";
    return (await usable(interpreter, launches, this.context.extensionPath)) ? complete : undefined;
  }

  private defaults(
    folder: vscode.WorkspaceFolder | undefined,
    configuration: vscode.DebugConfiguration,
  ): Record<string, unknown> {
    const workspace = folder?.uri.fsPath;
    return {
      logToFile: vscode.workspace.getConfiguration("fxdap", folder).get<boolean>("logToFile", false),
      ...(workspace === undefined ? {} : { workspace }),
      ...(configuration.request === "launch" ? { cwd: workspace ?? folderOf(configuration.program) } : {}),
    };
  }
}

/** Where to run without a workspace folder: beside the script. */
function folderOf(program: unknown): string {
  return typeof program === "string" ? path.dirname(program) : os.homedir();
}

function isComplete(
  configuration: Partial<vscode.DebugConfiguration>,
): configuration is vscode.DebugConfiguration {
  return configuration.type !== undefined && configuration.request !== undefined;
}

/** Not awaited by the caller: until it answers, VS Code shows a session that is starting. */
async function explainWhatToOpen(document: vscode.TextDocument | undefined): Promise<void> {
  const text =
    document?.languageId === "fxgraph"
      ? "A graph listing shows a graph but cannot run it. Press F5 in the Python file that builds the graph, or name its source in a launch configuration."
      : "Open the Python file whose graphs you want to debug and press F5 there, or write a launch configuration.";
  const open = "Open launch.json";
  if ((await vscode.window.showInformationMessage(text, open)) === open) {
    await vscode.commands.executeCommand("workbench.action.debug.configure");
  }
}
