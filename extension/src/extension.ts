import * as path from "node:path";
import * as vscode from "vscode";
import { AdapterFactory, MessageTracker } from "./adapter";
import { ConfigurationProvider, DEBUG_TYPE, configurationFor } from "./configuration";
import { NodeExpressionProvider, NodeValuesProvider } from "./language";
import { log } from "./log";
import { openInterpreterChoice } from "./probe";

export function activate(context: vscode.ExtensionContext): void {
  const { debug, languages, commands } = vscode;
  context.subscriptions.push(
    log,
    watchListings(),
    debug.registerDebugConfigurationProvider(DEBUG_TYPE, new ConfigurationProvider(context)),
    debug.registerDebugAdapterDescriptorFactory(DEBUG_TYPE, new AdapterFactory(context)),
    debug.registerDebugAdapterTrackerFactory(DEBUG_TYPE, {
      createDebugAdapterTracker: (session) => new MessageTracker(session),
    }),
    languages.registerEvaluatableExpressionProvider("fxgraph", new NodeExpressionProvider()),
    languages.registerInlineValuesProvider("fxgraph", new NodeValuesProvider()),
    commands.registerCommand("fxdap.debugFile", debugFile),
    commands.registerCommand("fxdap.chooseInterpreter", openInterpreterChoice),
    commands.registerCommand("fxdap.showLog", () => {
      log.info(`Log folder: ${context.logUri.fsPath}`);
      log.show();
    }),
  );
}

/**
 * Lets VS Code notice that a listing was written anew: its own watcher does not see into folders
 * that came into being together, as `.fxdap/graphs` does.
 */
function watchListings(): vscode.Disposable {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const watchers = folders.map(({ uri }) => {
    const listings = vscode.Uri.joinPath(uri, ".fxdap", "graphs");
    return vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(listings, "*"));
  });
  return vscode.Disposable.from(...watchers);
}

async function debugFile(resource?: vscode.Uri): Promise<void> {
  const file = resource ?? vscode.window.activeTextEditor?.document.uri;
  if (file === undefined) {
    return;
  }
  const folder = vscode.workspace.getWorkspaceFolder(file);
  await vscode.debug.startDebugging(folder, {
    ...configurationFor(file.fsPath),
    name: `Debug FX Graph: ${path.basename(file.fsPath)}`,
  });
}
