import * as path from "node:path";
import * as vscode from "vscode";
import { AdapterFactory, MessageTracker } from "./adapter";
import { ConfigurationProvider, configurationFor } from "./configuration";
import { NodeExpressionProvider, NodeValuesProvider } from "./language";
import { Listings } from "./listings";
import { DEBUG_TYPE, log } from "./log";
import { openInterpreterChoice } from "./probe";
import { attachGraphs, attachWhenAsked } from "./pythonDebug";
import { saveNode } from "./repro";
import { breakOnEvery, breakOnSelector, runToNode } from "./selectors";
import { PositionItem } from "./status";
import { TargetConfigurations, folderOf } from "./targets";

export function activate(context: vscode.ExtensionContext): void {
  const { debug, languages } = vscode;
  const listings = new Listings(context.workspaceState);
  const dynamic = vscode.DebugConfigurationProviderTriggerKind.Dynamic;
  context.subscriptions.push(
    log,
    watchListings(),
    new PositionItem(),
    debug.registerDebugConfigurationProvider(DEBUG_TYPE, new ConfigurationProvider(context, listings)),
    debug.registerDebugConfigurationProvider(DEBUG_TYPE, new TargetConfigurations(), dynamic),
    debug.registerDebugAdapterDescriptorFactory(DEBUG_TYPE, new AdapterFactory(context)),
    attachWhenAsked(),
    debug.registerDebugAdapterTrackerFactory(DEBUG_TYPE, {
      createDebugAdapterTracker: (session) => new MessageTracker(session, listings),
    }),
    languages.registerEvaluatableExpressionProvider("fxgraph", new NodeExpressionProvider()),
    languages.registerInlineValuesProvider("fxgraph", new NodeValuesProvider()),
    ...commands(context, listings),
  );
}

function commands(context: vscode.ExtensionContext, listings: Listings): vscode.Disposable[] {
  const all = {
    debugFile,
    openListing: (resource?: vscode.Uri) => listings.open(resource),
    breakOnSelector,
    breakOnEvery,
    runToNode: (place?: Parameters<typeof breakOnEvery>[0]) => runToNode(listings, place),
    saveNode,
    attachGraphs,
    chooseInterpreter: openInterpreterChoice,
    gettingStarted: () =>
      vscode.commands.executeCommand("workbench.action.openWalkthrough", `${context.extension.id}#start`),
    showLog: () => {
      log.info(`Log folder: ${context.logUri.fsPath}`);
      log.show();
    },
  };
  return Object.entries(all).map(([name, run]) => vscode.commands.registerCommand(`fxdap.${name}`, run));
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
  await vscode.debug.startDebugging(folderOf(file), {
    ...configurationFor(file.fsPath),
    name: `Debug FX Graph: ${path.basename(file.fsPath)}`,
  });
}
