import * as os from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { chooseInterpreter, isOptions } from "./interpreter";
import type { Listings } from "./listings";
import { DEBUG_TYPE } from "./log";
import { complain, usable } from "./probe";
import { isPythonSide } from "./pythonDebug";

/** What F5 does without a launch.json, and what the ▷ menu does. */
export function configurationFor(file: string): vscode.DebugConfiguration {
  const what = file.endsWith(".pt2") ? { graph: file } : { program: file };
  return { type: DEBUG_TYPE, request: "launch", name: "Debug FX Graph", ...what };
}

/** Completes a launch configuration with what only the editor knows; Python checks the rest. */
export class ConfigurationProvider implements vscode.DebugConfigurationProvider {
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly listings: Listings,
  ) {}

  async resolveDebugConfiguration(
    _folder: vscode.WorkspaceFolder | undefined,
    configuration: Partial<vscode.DebugConfiguration>,
  ): Promise<vscode.DebugConfiguration | undefined> {
    if (isComplete(configuration)) {
      return configuration;
    }
    const document = vscode.window.activeTextEditor?.document;
    if (document?.languageId === "python") {
      return { ...configurationFor("${file}"), ...configuration };
    }
    if (document?.languageId === "fxgraph") {
      const known = await this.listings.configurationFor(document.uri);
      return known && { ...known, ...configuration };
    }
    void explainWhatToOpen();
    return undefined;
  }

  async resolveDebugConfigurationWithSubstitutedVariables(
    folder: vscode.WorkspaceFolder | undefined,
    configuration: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    if (isPythonSide(configuration)) {
      return configuration;
    }
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
    const chosen = [interpreter.path, ...interpreter.options];
    complete.python = isOptions(configuration.python) ? { ...configuration.python, path: chosen } : chosen;
    const launches = configuration.request === "launch";
    return (await usable(interpreter, launches)) ? complete : undefined;
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
async function explainWhatToOpen(): Promise<void> {
  const open = "Open launch.json";
  const text =
    "Open the Python file whose graphs you want to debug and press F5 there, or write a launch configuration.";
  if ((await vscode.window.showInformationMessage(text, open)) === open) {
    await vscode.commands.executeCommand("workbench.action.debug.configure");
  }
}
