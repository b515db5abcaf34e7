import * as os from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { chooseInterpreter, isOptions } from "./interpreter";
import type { Listings } from "./listings";
import { complain } from "./log";
import { usable } from "./probe";
import { isPythonSide } from "./pythonDebug";
import { launchOf } from "./targets";

/** Completes a launch configuration with what only the editor knows; Python checks the rest. */
export class ConfigurationProvider implements vscode.DebugConfigurationProvider {
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly listings: Listings,
  ) {}

  /** F5 without a launch.json debugs what is shown. */
  async resolveDebugConfiguration(
    _folder: vscode.WorkspaceFolder | undefined,
    configuration: Partial<vscode.DebugConfiguration>,
  ): Promise<vscode.DebugConfiguration | undefined> {
    if (configuration.type !== undefined && configuration.request !== undefined) {
      return configuration as vscode.DebugConfiguration;
    }
    const document = vscode.window.activeTextEditor?.document;
    if (document?.languageId === "python") {
      return { ...launchOf(path.basename(document.fileName), { program: "${file}" }), ...configuration };
    }
    if (document?.languageId === "fxgraph") {
      const known = await this.listings.configurationFor(document.uri);
      return known && { ...known, ...configuration };
    }
    // Not awaited: until it answers, VS Code shows a session that is starting.
    void complain(
      "Open the Python file whose graphs you want to debug and press F5 there, or write a launch configuration.",
      { "Open launch.json": () => vscode.commands.executeCommand("workbench.action.debug.configure") },
    );
    return undefined;
  }

  async resolveDebugConfigurationWithSubstitutedVariables(
    folder: vscode.WorkspaceFolder | undefined,
    configuration: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    if (isPythonSide(configuration)) {
      return configuration;
    }
    const { request, program } = configuration;
    const workspace = folder?.uri.fsPath;
    const beside = typeof program === "string" ? path.dirname(program) : os.homedir();
    const complete: vscode.DebugConfiguration = {
      logToFile: vscode.workspace.getConfiguration("fxdap", folder).get<boolean>("logToFile", false),
      ...(workspace !== undefined && { workspace }),
      ...(request === "launch" && { cwd: workspace ?? beside }),
      ...configuration,
    };
    if (complete.logToFile === true) {
      complete.logToFile = this.context.logUri.fsPath;
    }
    if (complete.debugServer !== undefined) {
      return complete;
    }
    const interpreter = await chooseInterpreter(folder, configuration.python);
    const own = isOptions(configuration.python) ? configuration.python : {};
    complete.python = { ...own, path: [interpreter.path, ...interpreter.options] };
    return (await usable(interpreter, request === "launch")) ? complete : undefined;
  }
}
