import * as path from "node:path";
import * as vscode from "vscode";
import { AdapterFactory, MessageTracker } from "./adapter";
import { ConfigurationProvider, configurationFor } from "./configuration";
import { NodeExpressionProvider } from "./language";
import { LanguageServer } from "./languageServer";
import { Listings } from "./listings";
import { DEBUG_TYPE, log } from "./log";
import { openInterpreterChoice } from "./probe";
import { attachGraphs, attachWhenAsked } from "./pythonDebug";
import { Pt2Editor } from "./pt2";
import { saveNode } from "./repro";
import { addFunctionBreakpoint, breakOnEvery, breakOnSelector, runToNode } from "./selectors";
import { PositionItem } from "./status";
import { TargetConfigurations, folderOf } from "./targets";

export function activate(context: vscode.ExtensionContext): void {
  const { debug, languages } = vscode;
  const listings = new Listings(context.workspaceState);
  const server = new LanguageServer();
  const dynamic = vscode.DebugConfigurationProviderTriggerKind.Dynamic;
  context.subscriptions.push(
    log,
    new PositionItem(),
    debug.registerDebugConfigurationProvider(DEBUG_TYPE, new ConfigurationProvider(context, listings)),
    debug.registerDebugConfigurationProvider(DEBUG_TYPE, new TargetConfigurations(), dynamic),
    debug.registerDebugAdapterDescriptorFactory(DEBUG_TYPE, new AdapterFactory(context)),
    attachWhenAsked(),
    debug.registerDebugAdapterTrackerFactory(DEBUG_TYPE, {
      createDebugAdapterTracker: (session) => new MessageTracker(session, listings),
    }),
    languages.registerEvaluatableExpressionProvider("fxgraph", new NodeExpressionProvider()),
    server,
    vscode.window.registerCustomEditorProvider("fxdap.pt2", new Pt2Editor(server, listings)),
    ...commands(context, listings, server),
  );
}

function commands(context: vscode.ExtensionContext, listings: Listings, server: LanguageServer): vscode.Disposable[] {
  const all = {
    debugFile,
    debugTarget,
    openListing: (resource?: vscode.Uri) => listings.open(resource),
    breakOn: addFunctionBreakpoint,
    breakOnSelector: () => {
      breakOnSelector(server);
    },
    breakOnEvery,
    runToNode: (place?: Parameters<typeof breakOnEvery>[0]) => runToNode(listings, place),
    saveNode,
    attachGraphs,
    restartServer: () => server.restart(),
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

/** The lens above a model in a Python file. */
async function debugTarget(uri: string, target: string): Promise<void> {
  const file = vscode.Uri.parse(uri);
  await vscode.debug.startDebugging(folderOf(file), {
    type: DEBUG_TYPE,
    request: "launch",
    name: `Debug FX Graph: ${target}`,
    graph: `${file.fsPath}:${target}`,
  });
}
